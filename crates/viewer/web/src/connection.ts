// Where frames come from: the server, or the page itself if it was exported.

import { decodeFrame, type Frame, type Hello } from "./protocol";

export type Command = { do: string } & Record<string, unknown>;

export interface Listener {
  hello(hello: Hello): void;
  frame(frame: Frame): void;
  lost(why: string): void;
}

export interface Connection {
  // True if there is a server that does what it is asked.
  readonly live: boolean;
  ask<T>(command: Command): Promise<T>;
}

export class ServerConnection implements Connection {
  readonly live = true;
  private socket: WebSocket;
  private next = 1;
  private waiting = new Map<
    number,
    { done: (value: unknown) => void; failed: (why: Error) => void }
  >();

  constructor(listener: Listener) {
    const url = new URL("socket", location.href);
    url.protocol = "ws:";
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event: MessageEvent<unknown>) => {
      if (event.data instanceof ArrayBuffer) listener.frame(decodeFrame(event.data));
      else if (typeof event.data === "string") this.text(event.data, listener);
    };
    this.socket.onclose = () => {
      for (const { failed } of this.waiting.values()) failed(new Error("the viewer has ended"));
      this.waiting.clear();
      listener.lost("The viewer has ended. Start it again and reload.");
    };
  }

  ask<T>(command: Command): Promise<T> {
    if (this.socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new Error("not connected"));
    const re = this.next++;
    this.socket.send(JSON.stringify({ re, ...command }));
    return new Promise<T>((done, failed) => {
      this.waiting.set(re, { done: (value) => done(value as T), failed });
    });
  }

  private text(text: string, listener: Listener): void {
    const message = JSON.parse(text) as {
      hello?: Hello;
      re?: number;
      ok?: unknown;
      error?: string;
    };
    if (message.hello) return listener.hello(message.hello);
    const waiting = this.waiting.get(message.re ?? 0);
    this.waiting.delete(message.re ?? 0);
    if (message.error !== undefined) waiting?.failed(new Error(message.error));
    else waiting?.done(message.ok);
  }
}

// An exported page plays the frames inside it.
export class ExportedConnection implements Connection {
  readonly live = false;
  private frames: Frame[];
  private at = 0;
  private playing = true;
  private speed = 30;

  constructor(
    text: string,
    private listener: Listener,
  ) {
    const data = JSON.parse(text) as { hello: Hello; frames: string[] };
    this.frames = data.frames.map((frame) => decodeFrame(bytes(frame)));
    queueMicrotask(() => {
      listener.hello(data.hello);
      this.show();
      this.tick();
    });
  }

  ask<T>(command: Command): Promise<T> {
    const last = this.frames.length - 1;
    switch (command.do) {
      case "play":
        if (this.at === last) this.at = 0;
        this.playing = true;
        break;
      case "pause":
        this.playing = false;
        break;
      case "step":
        this.playing = false;
        this.at = Math.min(this.at + 1, last);
        break;
      case "seek":
        this.at = Math.max(0, Math.min(Number(command["frame"]), last));
        break;
      case "speed":
        this.speed = Number(command["steps"]);
        break;
      case "draw":
        break;
      default:
        return Promise.reject(new Error("this page was exported; it shows frames and no more"));
    }
    this.show();
    return Promise.resolve({} as T);
  }

  private tick(): void {
    setTimeout(() => {
      if (this.playing) {
        if (this.at < this.frames.length - 1) this.at += 1;
        else this.playing = false;
        this.show();
      }
      this.tick();
    }, 1000 / this.speed);
  }

  private show(): void {
    const frame = this.frames[this.at];
    if (!frame) return;
    const { playing, speed } = this;
    const header = { ...frame.header, frame: this.at, frames: this.frames.length, playing, speed };
    this.listener.frame({ ...frame, header });
  }
}

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const array = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) array[k] = text.charCodeAt(k);
  return array.buffer;
}
