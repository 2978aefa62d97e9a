/** What a page sends on the port for encoders, as bytes. */

export const TEXT = 1;
export const BINARY = 2;

/** The request that begins a WebSocket, with the key of RFC 6455, 1.3. */
export const opening = (headers: Readonly<Record<string, string>> = {}, line = "GET /live HTTP/1.1"): Uint8Array => {
  const all = {
    ...{ Host: "127.0.0.1:1935", Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" },
    ...{ "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", Origin: "http://127.0.0.1:8080" },
    ...headers,
  };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${line}\r\n${fields.join("")}\r\n`);
};

/** A frame as browsers send them: masked. */
export function clientFrame(opcode: number, payload: Uint8Array | string, { isFinal = true } = {}): Uint8Array {
  const bytes = Buffer.from(payload as string);
  const { length } = bytes;
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  const size = length < 126 ? [0x80 | length] : length < 65_536 ? [0x80 | 126, ...long.subarray(6)] : [0x80 | 127, ...long];
  const mask = [7, 77, 177, 27];
  return Buffer.concat([Uint8Array.of((isFinal ? 0x80 : 0) | opcode, ...size, ...mask), bytes.map((byte, i) => byte ^ (mask[i & 3] as number))]);
}

export const withKey = (stream_key: string): Uint8Array => clientFrame(TEXT, JSON.stringify({ stream_key }));

export function mediaMessage(kind: number, ms: number, data: Uint8Array): Uint8Array {
  const message = Buffer.alloc(5 + data.length);
  message.writeUInt8(kind);
  message.writeUInt32BE(ms, 1);
  message.set(data, 5);
  return message;
}

/** An AVCDecoderConfigurationRecord of x264: 320×180, baseline. */
export const AVC_CONFIG = Buffer.from("0142c00cffe100176742c00cda05067e7c0440000003004000000c83c50aa801000468ce0fc8", "hex");
/** Mono, 48 kHz. */
export const OPUS_HEAD = Buffer.from("4f707573486561640101380180bb0000000000", "hex");
/** 20 ms of Opus. */
export const OPUS_PACKET = Buffer.from("7883", "hex");
export const picture = (isKey: boolean): Uint8Array => Buffer.from(`00000002${isKey ? "65" : "41"}88`, "hex");
