/** What the loops did, counted for whoever watches the watcher: told once a cycle, never for a single level. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** A source as the counts name it. */
interface Counted {
  readonly id: string
  readonly manufacturer: string
}

export interface Counters {
  readonly registry: Registry
  countPoll(source: Counted, seconds: number, hasFailed: boolean): void
  countOverrun(source: Counted): void
  /** Something that was pushed means nothing to us. */
  countIgnored(source: Counted): void
}

/** `droppedLines`: how many lines of the log came to nothing. */
export function createCounters(droppedLines: () => number = () => 0): Counters {
  const registry = new Registry()
  new Gauge({
    name: 'micwatch_log_lines_dropped',
    help: 'Lines that standard output and standard error did not take since the start.',
    registers: [registry],
    collect() {
      this.set(droppedLines())
    },
  })
  const labelNames = ['manufacturer', 'source'] as const
  const about = { labelNames, registers: [registry] }
  const polls = new Counter({ ...about, name: 'micwatch_polls_total', help: 'Polling cycles of a source.' })
  const failures = new Counter({
    ...about,
    name: 'micwatch_poll_failures_total',
    help: 'Polling cycles in which the source did not answer as it should.',
  })
  const overruns = new Counter({
    ...about,
    name: 'micwatch_poll_overruns_total',
    help: 'Polling cycles that outlasted their interval.',
  })
  const ignored = new Counter({
    ...about,
    name: 'micwatch_push_ignored_total',
    help: 'Pushed messages that were not understood, or about devices that are not known.',
  })
  const latency = new Histogram({
    ...about,
    name: 'micwatch_poll_duration_seconds',
    help: 'How long the polling cycles of a source took.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })
  const labels = ({ id, manufacturer }: Counted) => ({ manufacturer, source: id })
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
