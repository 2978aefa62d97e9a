"""What the fixture promises, against a real server. `test/package/recipes.test.ts` runs these."""

import time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from pytest_plaza import ControlRefusal, UnmetExpectation
from pytest_plaza.receiver import signature_problem

WORLD = {
    "profile": "clients",
    "clock": {"now": 1795000000, "frozen": True},
    "apps": [{"id": "1001", "name": "Shop", "secret": "s3cret"}],
    "users": [{"id": "3001", "name": "Ada"}],
    "pages": [{"id": "2001", "name": "Cafe", "roles": [{"user": "3001", "tasks": ["MESSAGING"]}]}],
    "chatapp_accounts": [{"id": "4001", "subscribed_apps": [{"app": "1001"}]}],
    "tokens": [{"token": "page-token", "type": "page", "app": "1001", "page": "2001", "user": "3001", "scopes": ["pages_messaging"]}],
}
MESSAGE = {"messages": [{"from": "15550199", "id": "m1", "timestamp": "1795000000", "type": "text", "text": {"body": "hello"}}]}
MESSAGES = [{"object": "chatapp_business_account", "fields": ["messages"]}]


@pytest.fixture
def plaza_world():
    return WORLD


def create_label(plaza, name):
    body = urlencode({"page_label_name": name, "access_token": "page-token"}).encode()
    with urlopen(Request(f"{plaza.base_url}/v26.0/2001/custom_labels", data=body)) as response:
        return response.status


@pytest.mark.parametrize("name", ["one", "other"])
def test_each_test_has_a_world_of_its_own(plaza, name):
    assert plaza.control("GET", "nodes/labels")["data"] == []
    create_label(plaza, name)
    assert [label["name"] for label in plaza.control("GET", "nodes/labels")["data"]] == [name]


def test_nodes_tokens_and_time(plaza):
    label = plaza.create("labels", page="2001", name="vip")
    assert plaza.update("labels", label["id"], name="regular")["name"] == "regular"
    assert plaza.read("labels", label["id"])["name"] == "regular"
    plaza.delete("labels", label["id"])
    with pytest.raises(ControlRefusal) as refusal:
        plaza.read("labels", label["id"])
    assert refusal.value.status == 404
    assert plaza.mint_token(type="app", app="1001")["token"].startswith("PLZ")
    assert plaza.advance(60) == {"now": 1795000060, "frozen": True}
    assert plaza.set_clock(now=1795000500)["now"] == 1795000500


def test_a_world_goes_back_to_a_snapshot_and_to_its_beginning(plaza):
    names = lambda: [label["name"] for label in plaza.control("GET", "nodes/labels")["data"]]
    plaza.create("labels", page="2001", name="vip")
    plaza.snapshot("with-one")
    plaza.create("labels", page="2001", name="regular")
    plaza.restore("with-one")
    assert names() == ["vip"]
    plaza.reset()
    assert names() == []


def test_faults(plaza):
    plaza.add_fault(operation="createLabel", status=503, times=1)
    with pytest.raises(HTTPError) as error:
        create_label(plaza, "vip")
    assert error.value.code == 503
    plaza.add_fault(operation="*", status=500)
    plaza.clear_faults()
    assert create_label(plaza, "vip") == 200


def test_an_expectation_that_is_not_met_shows_the_nearest_miss(plaza):
    create_label(plaza, "VIP")
    with pytest.raises(UnmetExpectation) as unmet:
        plaza.expect_request(operation="createLabel", match={"request_body": {"page_label_name": "vip"}})
    assert str(unmet.value) == """expected 1 request, saw 0

nearest: createLabel: POST /v26.0/2001/custom_labels → 200
  request_body.page_label_name
    expected  "vip"
    actual    "VIP"

the server saw, newest first:
  createLabel: POST /v26.0/2001/custom_labels → 200"""


def test_a_webhook_that_the_receiver_refuses_is_sent_again(plaza):
    receiver = plaza.receive("1001", MESSAGES)
    receiver.status = 500
    plaza.in_app("chatapp", account="4001", field="messages", value=MESSAGE)
    plaza.expect_webhook(field="messages", status="waiting", match={"reason": "retry"}, within_ms=5000)
    with pytest.raises(UnmetExpectation, match="the receiver returned 500"):
        plaza.expect_webhook(field="messages")
    receiver.status = 200
    plaza.advance(60)
    plaza.expect_webhook(field="messages", match={"value": MESSAGE})
    assert len({webhook.id for webhook in receiver.webhooks}) == 1
    assert len(receiver.webhooks) == 2


def test_an_app_event_is_expected_with_its_values(plaza):
    with pytest.raises(UnmetExpectation, match="the server saw no request, webhook or event of this kind"):
        plaza.expect_app_event("1001", event_name="buy")
    assert plaza.expect_app_event("1001", count=0) == []


def test_an_app_event_that_breaks_its_schema_is_invalid(plaza):
    plaza.update("apps", "1001", event_schemas={"buy": {"type": "object", "required": ["item"]}})
    events = {"event": "CUSTOM_APP_EVENTS", "advertiser_id": "a", "custom_events": '[{"_eventName": "buy"}]', "access_token": "1001|s3cret"}
    with urlopen(Request(f"{plaza.base_url}/v26.0/1001/activities", data=urlencode(events).encode())) as response:
        assert response.status == 200
    with pytest.raises(UnmetExpectation, match="buy: invalid .item is required."):
        plaza.expect_app_event("1001", event_name="buy")
    plaza.expect_app_event("1001", event_name="buy", verdict="invalid")


def test_a_receiver_refuses_what_is_signed_with_another_secret(plaza):
    receiver = plaza.receive("1001", MESSAGES)
    receiver.secret = "other"
    plaza.in_app("chatapp", account="4001", field="messages", value={})
    plaza.expect_webhook(field="messages", status="waiting", match={"reason": "retry"}, within_ms=5000)
    assert receiver.webhooks == []
    assert receiver.refused == ["X-Hub-Signature-256 is missing, or not that of the app's secret"]


def test_signatures_of_a_known_pair():
    # Computed with openssl: the HMAC-SHA256 of the body, and of `msg_1.{time}.{"a":1}`, with the key s3cret.
    headers = {"x-hub-signature-256": "sha256=5910e62016ef5034272c926c27071992a465c2335cecf41851bda071577f4f6d", "webhook-id": "msg_1"}
    assert "webhook-timestamp" in signature_problem("s3cret", {**headers, "webhook-timestamp": "1700000000"}, b'{"a":1}')
    assert "webhook-signature" in signature_problem("s3cret", {**headers, "webhook-timestamp": str(int(time.time()))}, b'{"a":1}')
    assert "X-Hub-Signature-256" in signature_problem("s3cret", headers, b'{"a":2}')
