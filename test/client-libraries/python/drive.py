"""Ordinary uses of the library for Python. Prints one JSON object: what each use returned, by its name."""
import json
import sys
import time

from facebook_business import api as library, exceptions, session
from facebook_business.adobjects.application import Application
from facebook_business.adobjects.page import Page
from facebook_business.adobjects.persona import Persona
from facebook_business.adobjects.productcatalog import ProductCatalog
from facebook_business.adobjects.productfeed import ProductFeed
from facebook_business.adobjects.productfeedupload import ProductFeedUpload
from facebook_business.adobjects.user import User


def class_of(module, ending):
    """The library's own classes, whose names begin with the name of its platform."""
    return next(value for name, value in vars(module).items() if name.endswith(ending))


Api = class_of(library, "AdsApi")
Session = class_of(session, "Session")
RequestError = class_of(exceptions, "RequestError")

given = json.loads(sys.argv[1])
# Without an address, the library calls the host that is built in.
if "base_url" in given:
    Session.GRAPH = given["base_url"]


def api_of(token, version):
    """With the app's secret, so that each request carries its proof."""
    return Api(Session(app_id="1001", app_secret="shop-secret", access_token=token), api_version=version)


page_api = api_of("page-token", "v26.0")
user_api = api_of("user-token", "v25.0")
app_api = api_of("app-token", "v26.0")
uses = {}


def data(node):
    return dict(node.export_all_data())


def read_nodes():
    uses["read a page with fields that Plaza does not serve"] = data(Page("2001", api=page_api).api_get(fields=["id", "name", "fan_count", "about"]))
    uses["read the user of a token"] = data(User("me", api=user_api).api_get(fields=["id", "name"]))


def label_people():
    page = Page("2001", api=page_api)
    labels = [page.create_custom_label(params={"page_label_name": name}) for name in ("first", "second", "third")]
    uses["create labels"] = [data(label)["name"] for label in labels]
    uses["page through labels"] = [label["name"] for label in page.get_custom_labels(fields=["name"], params={"limit": 1})]
    labels[0].api_delete()
    uses["delete a label"] = [label["name"] for label in page.get_custom_labels(fields=["name"])]


def personas():
    page = Page("2001", api=page_api)
    created = page.create_persona(params={"name": "Bo", "profile_picture_url": "https://example.com/bo.png"})
    uses["create a persona and read it"] = data(Persona(created["id"], api=page_api).api_get(fields=["name"]))["name"]
    uses["list personas"] = [persona["name"] for persona in page.get_personas(fields=["name"])]


def catalogs():
    response = user_api.call("POST", ("2001", "owned_product_catalogs"), params={"name": "Books"}, url_override=given["ads_base_url"])
    catalog = ProductCatalog(response.json()["id"], api=user_api)
    read = data(catalog.api_get(fields=["id", "name", "vertical", "product_count"]))
    uses["create a catalog and read it"] = [read["name"], read["vertical"]]
    return catalog


def feeds(catalog):
    schedule = {"interval": "DAILY", "hour": 4, "url": given["file_url"]}
    feed = catalog.create_product_feed(params={"name": "All books", "schedule": schedule, "default_currency": "EUR"})
    feed = ProductFeed(feed["id"], api=user_api)
    feed.api_update(params={"name": "Every book"})
    read = data(feed.api_get(fields=["name", "schedule", "update_schedule", "country"]))
    uses["create a feed with a schedule, rename it and read it"] = [read["name"], read["schedule"]["interval"], read["schedule"]["hour"]]
    catalog.create_product_feed(params={"name": "Other books"}).api_delete()
    uses["list the feeds of a catalog, one of which was deleted"] = [one["name"] for one in catalog.get_product_feeds(fields=["name"])]
    return feed


def end_of(upload):
    """As a program waits for it: by asking again."""
    node = ProductFeedUpload(upload["id"], api=user_api)
    for _ in range(300):
        read = data(node.api_get(fields=["start_time", "end_time", "num_detected_items", "num_persisted_items", "error_count"]))
        if "end_time" in read:
            return node, [read["num_detected_items"], read["num_persisted_items"], read["error_count"]]
        time.sleep(0.1)
    raise RuntimeError("the upload does not end")


def uploads(feed):
    node, counts = end_of(feed.create_upload(params={"file": given["file"]}))
    uses["upload a file and wait for its end"] = counts
    uses["read the errors of an upload"] = [[error["severity"], error["summary"]] for error in node.get_errors()]
    uses["upload a file by its address that adds items to the feed"] = end_of(feed.create_upload(params={"url": given["file_url"], "update_only": True}))[1]
    uses["list the uploads of a feed"] = [one["input_method"] for one in feed.get_uploads(fields=["input_method"])]
    items = user_api.call("GET", (feed["id"], "articles_and_publications"), params={"summary": True, "fields": "retailer_id"}).json()
    uses["list the items of a feed"] = [items["summary"]["total_count"], [item["retailer_id"] for item in items["data"]]]


def subscriptions():
    app = Application("1001", api=app_api)
    subscription = {"object": "page", "callback_url": given["callback_url"], "verify_token": "v", "fields": ["custom_labels", "feed"]}
    app.create_subscription(params=subscription)
    uses["subscribe an app"] = [sorted(one["fields"]) for one in app_api.call("GET", ("1001", "subscriptions")).json()["data"]]
    page = Page("2001", api=page_api)
    page.create_subscribed_app(params={"subscribed_fields": ["custom_labels", "feed"]})
    uses["subscribe the app to a page"] = [sorted(one["subscribed_fields"]) for one in page.get_subscribed_apps()]
    page.delete_subscribed_apps()
    app.delete_subscriptions(params={"object": "page"})
    uses["unsubscribe from both"] = [len(page.get_subscribed_apps()), len(app_api.call("GET", ("1001", "subscriptions")).json()["data"])]


def batches(feed):
    results = []
    batch = user_api.new_batch()
    ok = lambda response: results.append(response.json().get("name"))
    failed = lambda response: results.append(response.error().api_error_code())
    ProductFeed(feed["id"], api=user_api).api_get(fields=["name"], batch=batch, success=ok, failure=failed)
    ProductFeed("4999", api=user_api).api_get(fields=["name"], batch=batch, success=ok, failure=failed)
    feed.api_update(params={"name": "In a batch"}, batch=batch, success=lambda response: results.append(response.json()["success"]), failure=failed)
    batch.execute()
    uses["send a batch of which one request fails"] = results


def references():
    """The library percent-encodes the reference in the body of the second request."""
    batch = page_api.new_batch()
    first = batch.add("POST", ("2001", "personas"), params={"name": "first", "profile_picture_url": "https://example.com/bo.png"})
    first["name"] = "first"
    batch.add("POST", ("2001", "custom_labels"), params={"page_label_name": "{result=first:$.id}"})
    batch.execute()
    page = Page("2001", api=page_api)
    named = next(persona["id"] for persona in page.get_personas(fields=["name"]) if persona["name"] == "first")
    uses["send a batch of which one request refers to another"] = named in [label["name"] for label in page.get_custom_labels(fields=["name"])]


def subcode_of(request):
    """Of the error with which the request is refused."""
    try:
        request()
    except RequestError as error:
        return error.api_error_subcode()


def errors():
    try:
        Page("4999", api=page_api).api_get(fields=["name"])
    except RequestError as error:
        uses["read an error"] = [error.http_status(), error.api_error_code(), error.api_error_subcode(), error.api_error_type()]


def main():
    read_nodes()
    label_people()
    personas()
    catalog = catalogs()
    feed = feeds(catalog)
    uploads(feed)
    subscriptions()
    batches(feed)
    references()
    errors()
    catalog.api_delete()
    uses["delete a catalog"] = subcode_of(lambda: catalog.api_get(fields=["name"]))
    print(json.dumps(uses))


main()
