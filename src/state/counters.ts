/** Metrics of polling cycles, ignored pushed messages and lost log lines. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The properties of a source that become the labels of its metrics. */
interface LabelledSource {
  readonly id: string
  readonly manufacturer: string
}

export interface Counters {
  readonly registry: Registry
  countPoll(source: LabelledSource, seconds: number, hasFailed: boolean): void
  countOverrun(source: LabelledSource): void
  /** Counts a pushed message that was ignored. */
  countIgnored(source: LabelledSource): void
}

/** Creates the metrics. `droppedLines` returns how many log lines were lost. */
export function createCounters(droppedLines: () => number = () => 0): Counters {
  const registry = new Registry()
  new Gauge({
    name: 'micwatch_log_lines_dropped',
    help: 'Log lines lost since the start because standard output or standard error was blocked.',
    registers: [registry],
    collect() {
      this.set(droppedLines())
    },
  })
  const labelNames = ['manufacturer', 'source'] as const
  const options = { labelNames, registers: [registry] }
  const polls = new Counter({ ...options, name: 'micwatch_polls_total', help: 'Polling cycles of a source.' })
  const failures = new Counter({
    ...options,
    name: 'micwatch_poll_failures_total',
    help: 'Polling cycles that failed because the source did not send a valid response.',
  })
  const overruns = new Counter({
    ...options,
    name: 'micwatch_poll_overruns_total',
    help: 'Polling cycles that took longer than their interval.',
  })
  const ignored = new Counter({
    ...options,
    name: 'micwatch_push_ignored_total',
    help: 'Pushed messages that were ignored because they were invalid or concerned an unknown device.',
  })
  const latency = new Histogram({
    ...options,
    name: 'micwatch_poll_duration_seconds',
    help: 'How long the polling cycles of a source took.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })
  const labels = ({ id, manufacturer }: LabelledSource) => ({ manufacturer, source: id })
  return {
    registry,
    countPoll(source, seconds, hasFailed) {
      polls.inc(labels(source))
      failures.inc(labels(source), hasFailed ? 1 : 0)
      overruns.inc(labels(source), 0)
      ignored.inc(labels(source), 0)
      latency.observe(labels(source), seconds)
    },
    countOverrun: (source) => overruns.inc(labels(source)),
    countIgnored: (source) => ignored.inc(labels(source)),
  }
}

export interface RemoteWriteCounters {
  /** Counts a response to a request with this many samples. */
  countResponse(outcome: 'accepted' | 'rejected' | 'failed', samples: number): void
  setBacklog(seconds: number): void
}

/** Adds the metrics of remote write. */
export function createRemoteWriteCounters({ registry }: Pick<Counters, 'registry'>): RemoteWriteCounters {
  const samplesByOutcome = new Counter({
    name: 'micwatch_remote_write_samples_total',
    help: 'Samples that the remote-write receiver accepted, or rejected so that they were skipped.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const retries = new Counter({
    name: 'micwatch_remote_write_retries_total',
    help: 'Remote-write requests that failed and are sent again.',
    registers: [registry],
  })
  const backlog = new Gauge({
    name: 'micwatch_remote_write_backlog_seconds',
    help: 'Recorded time that remote write has not sent yet.',
    registers: [registry],
  })
  for (const outcome of ['accepted', 'rejected']) samplesByOutcome.inc({ outcome }, 0)
  return {
    countResponse(outcome, samples) {
      if (outcome === 'failed') retries.inc()
      else samplesByOutcome.inc({ outcome }, samples)
    },
    setBacklog: (seconds) => backlog.set(seconds),
  }
}
