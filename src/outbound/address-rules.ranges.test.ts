/** Tests the address rules with the first and the last address of each range of addresses. */
import { describe, expect, test } from "bun:test";
import { addressRefusal, type CallbackRules } from "./address-rules.ts";

const outside: CallbackRules = { isSandbox: false, allowed: [] };

describe("D-64: the public one of two neighbouring addresses", () => {
  test.each([
    // The next addresses are ISATAP addresses (RFC 5214), with and without the bit that marks a global identifier.
    ["2606:4700::5efe:808:808", false],
    ["2606:4700::200:5efe:808:808", false],
    ["2606:4700::400:5efe:808:808", true],
    ["2606:4700::1:5efe:808:808", true],
    ["2606:4700::5eff:808:808", true],
    // The next addresses are at the limits of 2000::/3, the range of all routed IPv6 addresses.
    ["1fff:ffff::1", false],
    ["2000::1", true],
    ["3ffe::1", true],
    ["3fff:1000::1", true],
    ["4000::1", false],
    // The next addresses belong to Teredo, 6to4, NAT64, and the start of the range for documentation.
    ["2001::1", false],
    ["2001:db7:ffff::1", true],
    ["2001:db8::1", false],
    ["2001:db9::1", true],
    ["2001:ffff::1", true],
    ["2002::1", false],
    ["2003::1", true],
    ["64:ff9b::808:808", false],
    ["3fff::1", false],
    // The next addresses are the last addresses of IPv4 ranges.
    ["9.255.255.255", true],
    ["10.0.0.0", false],
    ["10.255.255.255", false],
    ["11.0.0.0", true],
    ["100.63.255.255", true],
    ["100.64.0.0", false],
    ["100.127.255.255", false],
    ["100.128.0.0", true],
    ["126.255.255.255", true],
    ["127.0.0.0", false],
    ["128.0.0.0", true],
    ["169.253.255.255", true],
    ["169.254.0.0", false],
    ["169.255.0.0", true],
    ["172.15.255.255", true],
    ["172.16.0.0", false],
    ["172.31.255.255", false],
    ["172.32.0.0", true],
    ["192.167.255.255", true],
    ["192.168.0.0", false],
    ["192.169.0.0", true],
    ["198.17.255.255", true],
    ["198.18.0.0", false],
    ["198.19.255.255", false],
    ["198.20.0.0", true],
    ["223.255.255.255", true],
    ["224.0.0.0", false],
    ["168.63.129.15", true],
    ["168.63.129.16", false],
    ["168.63.129.17", true],
  ])("%s: %p", (address, isPublic) => {
    expect({ address, isPublic: addressRefusal(address, "hooks.example.com", outside) === undefined }).toEqual({ address, isPublic });
  });
});
