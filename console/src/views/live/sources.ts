/** What a broadcast from this page shows and lets hear. */

export interface Source {
  readonly stream: MediaStream;
  /** Of a camera, so that people see themselves. */
  readonly isOfCamera: boolean;
  stop(): void;
}

export type SourceKind = "picture" | "camera";

export const openSource = (kind: SourceKind): Promise<Source> => (kind === "camera" ? openCamera() : drawPicture());

/** Rejects where the person, or the browser, does not allow it. */
async function openCamera(): Promise<Source> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 1280, height: 720 }, audio: true });
  return {
    stream,
    isOfCamera: true,
    stop() {
      for (const track of stream.getTracks()) track.stop();
    },
  };
}

const WIDTH = 640;
const HEIGHT = 360;
const FRAMES_PER_SECOND = 25;
const FRAME_MS = 1_000 / FRAMES_PER_SECOND;
const BARS = ["#c0c0c0", "#c0c000", "#00c0c0", "#00c000", "#c000c0", "#c00000", "#0000c0"];
/** Two tones in turn, one a second: quiet, and heard to go on. */
const TONES_HZ = [440, 660];
const LOUDNESS = 0.1;

/** Bars, the time, and a dot that goes round; two tones in turn. */
async function drawPicture(): Promise<Source> {
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("this browser draws no pictures");
  const sound = new AudioContext();
  await sound.resume();
  const tone = sound.createOscillator();
  const volume = new GainNode(sound, { gain: LOUDNESS });
  const output = sound.createMediaStreamDestination();
  tone.connect(volume).connect(output);
  tone.start();
  let count = 0;
  const draw = (): void => {
    drawFrame(pen, count);
    tone.frequency.value = TONES_HZ[Math.floor(count / FRAMES_PER_SECOND) % TONES_HZ.length] as number;
    count++;
  };
  draw();
  const drawing = setInterval(draw, FRAME_MS);
  const stream = new MediaStream([...canvas.captureStream(FRAMES_PER_SECOND).getTracks(), ...output.stream.getTracks()]);
  return {
    stream,
    isOfCamera: false,
    stop() {
      clearInterval(drawing);
      for (const track of stream.getTracks()) track.stop();
      void sound.close();
    },
  };
}

function drawFrame(pen: CanvasRenderingContext2D, count: number): void {
  const barWidth = WIDTH / BARS.length;
  for (const [at, colour] of BARS.entries()) {
    pen.fillStyle = colour;
    pen.fillRect(at * barWidth, 0, barWidth + 1, HEIGHT);
  }
  pen.fillStyle = "#101418";
  pen.fillRect(0, HEIGHT * 0.68, WIDTH, HEIGHT * 0.32);
  pen.fillStyle = "#ffffff";
  pen.font = "48px monospace";
  pen.fillText(new Date().toISOString().slice(11, 23), 24, HEIGHT - 40);
  const angle = (count / FRAMES_PER_SECOND) * Math.PI;
  pen.beginPath();
  pen.arc(WIDTH - 80 + 32 * Math.cos(angle), HEIGHT - 58 + 32 * Math.sin(angle), 10, 0, 2 * Math.PI);
  pen.fill();
}
