'use strict';

const { EventEmitter } = require('events');
const path = require('path');

const LIMITS = {
  small: 16,
  medium: 256,
  large: 4096,
};

/**
 * A queue of jobs that remembers who asked for what.
 */
class JobQueue extends EventEmitter {
  constructor(size, options = {}) {
    super();
    this.size = size;
    this.waiting = [];
    this.running = new Map();
    this.root = path.resolve(options.root || '.');
  }

  push(job) {
    if (this.waiting.length >= this.size) {
      throw new RangeError('the queue is full');
    }
    this.waiting.push(job);
    this.emit('pushed', job);
    return this.waiting.length;
  }

  next(worker) {
    const job = this.waiting.shift();
    if (!job) {
      return null;
    }
    this.running.set(job.id, { job, worker });
    return job;
  }

  done(id) {
    const entry = this.running.get(id);
    if (!entry) {
      return false;
    }
    this.running.delete(id);
    this.emit('done', entry.job);
    return true;
  }

  get length() {
    return this.waiting.length + this.running.size;
  }
}

function sizeOf(name) {
  switch (name) {
    case 'small':
      return LIMITS.small;
    case 'medium':
      return LIMITS.medium;
    default:
      return LIMITS.large;
  }
}

const byAge = (left, right) => left.at - right.at;

async function drain(queue, work) {
  for (;;) {
    const job = queue.next('drain');
    if (job === null) {
      break;
    }
    try {
      await work(job);
    } catch (error) {
      queue.emit('failed', job, error);
    } finally {
      queue.done(job.id);
    }
  }
}

module.exports = { JobQueue, byAge, drain, sizeOf };
