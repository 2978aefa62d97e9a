/**
 * Sends what a page sees and hears to a live video. The browser encodes it (WebCodecs, H.264 and Opus), the server packages it. Served as
 * `/player/publisher.js`; the messages are in docs/guides/live-from-a-page.md.
 *
 * ```js
 * const publisher = publishLive({ stream, stream_url, onState: (state, reason) => console.log(state, reason) });
 * publisher.stop();
 * ```
 *
 * `stream` is a MediaStream with a track of video and one of audio. `stream_url` is what the live video's creation returned, of which this
 * makes the address of the WebSocket and the key; or give both, as `url` and `stream_key`. States are connecting, publishing, reconnecting
 * and ended; an ended one has a reason, which is empty after `stop`.
 */
export function publishLive({ stream, stream_url = "", url, stream_key, video_bits = 2_500_000, audio_bits = 128_000, onState = () => {} }) {
  const slash = stream_url.lastIndexOf("/");
  const link = new Link({
    url: url ?? stream_url.slice(0, slash).replace(/^rtmp/, "ws"),
    stream_key: stream_key ?? stream_url.slice(slash + 1),
    onState,
  });
  const [picture] = stream.getVideoTracks();
  const [sound] = stream.getAudioTracks();
  if (picture === undefined || sound === undefined) throw new TypeError("stream must have a track of video and one of audio");
  const fail = (error) => link.end(error instanceof Error ? error.message : String(error));
  sendVideo(picture, link, video_bits, fail);
  sendAudio(sound, link, audio_bits, fail);
  link.connect();
  return { stop: () => link.end("") };
}

const VIDEO_CONFIG = 1;
const KEY_PICTURE = 2;
const PICTURE = 3;
const AUDIO_CONFIG = 4;
const SOUND = 5;

/** Viewers start at key pictures, and segments end there. */
const KEY_EVERY_US = 2_000_000;
/** More than two pictures in the encoder: the machine is too slow for all of them. */
const ENCODING_MAX = 2;
/** Some seconds of a stream that the network does not take; then pictures are left out until the next key picture. */
const UNSENT_BYTES_MAX = 2_000_000;
const SETTLING_MS = 500;
/** A busy machine begins to give sound later than pictures. Sooner than the server takes a silent page for gone (8 s). */
const SOUND_WITHIN_MS = 6_000;
const RETRY_MS = 1_000;
/** As long as the server waits for the feed. */
const RETRY_FOR_MS = 150_000;

/** The connection, and the next one when it breaks off. */
class Link {
  #options;
  #socket;
  #isPublishing = false;
  #publishingMs = 0;
  #retryUntilMs = 0;
  /** The newest configurations: a connection begins with them. */
  #configs = new Map();
  #hasEnded = false;
  needsKey = true;

  constructor(options) {
    this.#options = options;
  }

  get hasEnded() {
    return this.#hasEnded;
  }

  get isPublishing() {
    return this.#isPublishing;
  }

  /** The server ends a feed whose pictures have no sound, so pictures wait for the first of it. Ends where none comes. */
  takesPictures() {
    if (!this.#isPublishing) return false;
    const hasSound = this.#configs.has(AUDIO_CONFIG);
    // In real time: this runs in a browser.
    if (!hasSound && performance.now() - this.#publishingMs > SOUND_WITHIN_MS) this.end("no sound comes from the track of audio");
    return hasSound;
  }

  connect() {
    this.#options.onState(this.#retryUntilMs === 0 ? "connecting" : "reconnecting", "");
    const socket = new WebSocket(this.#options.url);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ stream_key: this.#options.stream_key }));
    socket.onmessage = () => {
      this.#isPublishing = true;
      // In real time, as all of this.
      this.#publishingMs = performance.now();
      this.needsKey = true;
      for (const [kind, bytes] of this.#configs) this.#write(kind, 0, bytes);
      this.#options.onState("publishing", "");
    };
    socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  /** Kept, and sent with the next connection too. */
  configure(kind, bytes) {
    const known = this.#configs.get(kind);
    if (known !== undefined && known.length === bytes.length && known.every((byte, i) => byte === bytes[i])) return;
    this.#configs.set(kind, bytes);
    if (this.#isPublishing) this.#write(kind, 0, bytes);
  }

  picture(isKey, ms, bytes) {
    if (!this.#isPublishing || (this.needsKey && !isKey)) return;
    if (this.#socket.bufferedAmount > UNSENT_BYTES_MAX) {
      this.needsKey = true;
      return;
    }
    this.needsKey = false;
    this.#write(isKey ? KEY_PICTURE : PICTURE, ms, bytes);
  }

  sound(ms, bytes) {
    if (this.#isPublishing && this.#configs.has(AUDIO_CONFIG)) this.#write(SOUND, ms, bytes);
  }

  end(reason) {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isPublishing = false;
    this.#socket?.close(1000);
    this.#options.onState("ended", reason);
  }

  #write(kind, ms, bytes) {
    const message = new Uint8Array(5 + bytes.length);
    message[0] = kind;
    new DataView(message.buffer).setUint32(1, ms >>> 0);
    message.set(bytes, 5);
    this.#socket.send(message);
  }

  #closed(code, reason) {
    if (this.#hasEnded) return;
    const wasPublishing = this.#isPublishing;
    this.#isPublishing = false;
    // The real time: this runs in a browser.
    if (wasPublishing) this.#retryUntilMs = performance.now() + RETRY_FOR_MS;
    // In real time, too. Codes from 4000 are the server's last word. A connection that was never there has nothing to come back to.
    if (code >= 4000 || performance.now() > this.#retryUntilMs) this.end(reason || "the connection to the server failed");
    // A timer of the browser.
    else setTimeout(() => this.#hasEnded || this.connect(), RETRY_MS);
  }
}

/**
 * Both tracks count from moments of their own; here both count from the page's. A frame may be read late and never early, so for a moment the
 * earliest counts.
 */
class PageTime {
  #offsetUs = Number.POSITIVE_INFINITY;
  #settledMs;

  /** A frame is there. True: times are known, and it can be sent. */
  see(us) {
    // The real time: this runs in a browser.
    const nowMs = performance.now();
    this.#settledMs ??= nowMs + SETTLING_MS;
    if (nowMs >= this.#settledMs) return true;
    this.#offsetUs = Math.min(this.#offsetUs, nowMs * 1000 - us);
    return false;
  }

  msOf(us) {
    return Math.max(0, Math.round((us + this.#offsetUs) / 1000));
  }
}

/**
 * When the packets of an encoder of sound were heard. Encoders count samples from the first one on, so what a busy machine or a broken
 * connection has left out would make the sound late for the rest of the stream.
 */
export class SoundTimes {
  /** Of what was given to the encoder: where it stands among all of that, and when it was heard. */
  #given = [];
  #givenUs = 0;
  #packedUs = 0;

  give(us, durationUs) {
    this.#given.push({ atUs: this.#givenUs, us });
    this.#givenUs += durationUs;
  }

  /** Of the next packet. */
  take(durationUs) {
    while (this.#given.length > 1 && this.#given[1].atUs <= this.#packedUs) this.#given.shift();
    const { atUs, us } = this.#given[0];
    const heardUs = us + this.#packedUs - atUs;
    this.#packedUs += durationUs;
    return heardUs;
  }
}

/** Ends with the first frame after the link's end: cancelled while it waits for one, it could leave that one unclosed. */
function readAll(track, link, take, fail) {
  const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
  const read = async () => {
    while (!link.hasEnded) {
      const { done, value } = await reader.read();
      if (done) return;
      try {
        if (!link.hasEnded) take(value);
      } finally {
        value.close();
      }
    }
    await reader.cancel();
  };
  read().catch(fail);
}

function sendVideo(track, link, bitrate, fail) {
  const time = new PageTime();
  const output = (chunk, { decoderConfig } = {}) => {
    if (decoderConfig?.description !== undefined) link.configure(VIDEO_CONFIG, bytesOf(decoderConfig.description));
    const bytes = new Uint8Array(chunk.byteLength);
    chunk.copyTo(bytes);
    link.picture(chunk.type === "key", time.msOf(chunk.timestamp), bytes);
  };
  const encoder = new VideoEncoder({ output, error: fail });
  let keyUs = Number.NEGATIVE_INFINITY;
  const take = (frame) => {
    if (encoder.state === "unconfigured") {
      // Pictures of H.264 have an even number of rows and columns. Constrained Baseline 4.0, which every device decodes.
      const [width, height] = [frame.displayWidth & ~1, frame.displayHeight & ~1];
      encoder.configure({ codec: "avc1.42e028", width, height, bitrate, latencyMode: "realtime", avc: { format: "avc" } });
    }
    if (!time.see(frame.timestamp) || !link.takesPictures() || encoder.encodeQueueSize > ENCODING_MAX) return;
    const keyFrame = link.needsKey || frame.timestamp - keyUs >= KEY_EVERY_US;
    if (keyFrame) keyUs = frame.timestamp;
    encoder.encode(frame, { keyFrame });
  };
  readAll(track, link, take, fail);
}

function sendAudio(track, link, bitrate, fail) {
  const time = new PageTime();
  const times = new SoundTimes();
  let channels = 1;
  const output = (chunk, { decoderConfig } = {}) => {
    if (decoderConfig !== undefined) link.configure(AUDIO_CONFIG, opusHead(channels, decoderConfig));
    const bytes = new Uint8Array(chunk.byteLength);
    chunk.copyTo(bytes);
    link.sound(time.msOf(times.take(chunk.duration)), bytes);
  };
  const encoder = new AudioEncoder({ output, error: fail });
  const take = (data) => {
    if (encoder.state === "unconfigured") {
      channels = Math.min(2, data.numberOfChannels);
      encoder.configure({ codec: "opus", sampleRate: data.sampleRate, numberOfChannels: channels, bitrate });
    }
    if (!time.see(data.timestamp) || !link.isPublishing) return;
    times.give(data.timestamp, data.duration);
    encoder.encode(data);
  };
  readAll(track, link, take, fail);
}

/** The identification header of RFC 7845; some browsers give it. */
function opusHead(channels, { description, sampleRate }) {
  if (description !== undefined) return bytesOf(description);
  const head = new Uint8Array(19);
  head.set(new TextEncoder().encode("OpusHead"));
  head.set([1, channels], 8);
  new DataView(head.buffer).setUint32(12, sampleRate, true);
  return head;
}

const bytesOf = (source) =>
  (ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source)).slice();
