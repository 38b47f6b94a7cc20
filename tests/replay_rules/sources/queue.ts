import { EventEmitter } from "events";
import type { Clock } from "./clock";

export interface Job {
  id: string;
  at: number;
  tags?: readonly string[];
}

export enum State {
  Waiting = "waiting",
  Running = "running",
  Done = "done",
}

export type Outcome<T> = { ok: true; value: T } | { ok: false; why: string };

function named(job: Job): string;
function named(job: string): string;
function named(job: Job | string): string {
  return typeof job === "string" ? job : job.id;
}

@sealed
export class JobQueue<T extends Job> extends EventEmitter {
  private readonly waiting: T[] = [];
  protected states = new Map<string, State>();

  constructor(private readonly clock: Clock, public readonly size = 16) {
    super();
  }

  push(job: T): Outcome<number> {
    if (this.waiting.length >= this.size) {
      return { ok: false, why: `full: ${this.size}` };
    }
    this.waiting.push(job);
    this.states.set(job.id, State.Waiting);
    return { ok: true, value: this.waiting.length };
  }

  next(): T | undefined {
    const job = this.waiting.shift();
    if (job !== undefined) {
      this.states.set(job.id, State.Running);
    }
    return job;
  }

  done(id: string): void {
    this.states.set(id, State.Done);
    this.emit("done", id, this.clock.now());
  }

  get length(): number {
    return this.waiting.length;
  }
}

export const oldest = (jobs: readonly Job[]): Job | undefined =>
  [...jobs].sort((left, right) => left.at - right.at)[0];

export namespace Tags {
  export const all = (jobs: readonly Job[]): Set<string> => {
    const found = new Set<string>();
    for (const job of jobs) {
      for (const tag of job.tags ?? []) {
        found.add(tag);
      }
    }
    return found;
  };
}

declare function sealed(target: Function): void;
