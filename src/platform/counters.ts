/** Metrics of polling cycles, ignored messages, events of channels, remote write, notifications and lost log lines. */

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The labels of a source's metrics. */
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
  /** Ignores kinds of events that are not counted. */
  countEvent(kind: string, channelId: number): void
  /** Counts since the start of the process. */
  eventCount(kind: CountedEvent, channelId: number): number
}

/** Counted per channel. */
const countedEvents = ['rf_dropout', 'clipping', 'interference'] as const
type CountedEvent = (typeof countedEvents)[number]

/** `droppedLines` returns the number of lost log lines. */
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
    help: 'Duration of the polling cycles of a source.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })
  const labels = ({ id, manufacturer }: LabelledSource) => ({ manufacturer, source: id })
  // Not in the registry: see `formatEquipmentMetrics`.
  const events = new Map<string, Map<number, number>>(countedEvents.map((kind) => [kind, new Map()]))
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
    countEvent(kind, channelId) {
      const counts = events.get(kind)
      counts?.set(channelId, (counts.get(channelId) ?? 0) + 1)
    },
    eventCount: (kind, channelId) => events.get(kind)?.get(channelId) ?? 0,
  }
}

export interface RemoteWriteCounters {
  /** Counts a response to a request with this many samples. */
  countResponse(outcome: 'accepted' | 'rejected' | 'failed', samples: number): void
  setBacklog(seconds: number): void
}

export function createRemoteWriteCounters({ registry }: Counters): RemoteWriteCounters {
  const samplesByOutcome = new Counter({
    name: 'micwatch_remote_write_samples_total',
    help: 'Samples that the remote-write receiver accepted, or rejected so that they were skipped.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const retries = new Counter({
    name: 'micwatch_remote_write_retries_total',
    help: 'Failed remote-write requests that were retried.',
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

export interface NotificationCounters {
  countEnd(status: 'sent' | 'failed' | 'expired'): void
  countRetry(): void
  /** The time from queueing a message to its delivery. */
  observeLatency(seconds: number): void
}

export function createNotificationCounters({ registry }: Counters): NotificationCounters {
  const deliveries = new Counter({
    name: 'micwatch_notification_deliveries_total',
    help: 'Messages to notification channels that were sent, or that failed or expired.',
    labelNames: ['status'],
    registers: [registry],
  })
  const retries = new Counter({
    name: 'micwatch_notification_retries_total',
    help: 'Tries to send a message that failed and are made again.',
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'micwatch_notification_delivery_seconds',
    help: 'Time from queueing a message to its delivery. A message waits 2 seconds for further alerts.',
    buckets: [2.1, 2.25, 2.5, 3, 4, 5, 10, 30, 60, 120],
    registers: [registry],
  })
  for (const status of ['sent', 'failed', 'expired']) deliveries.inc({ status }, 0)
  return {
    countEnd: (status) => deliveries.inc({ status }),
    countRetry: () => retries.inc(),
    observeLatency: (seconds) => latency.observe(seconds),
  }
}

/** Returns a function that records the duration of a request. `route` is the path with names in place of parameters. */
export function createHttpHistogram({
  registry,
}: Counters): (method: string, route: string, status: number, seconds: number) => void {
  const duration = new Histogram({
    name: 'micwatch_http_request_duration_seconds',
    help: 'Duration of HTTP requests, by route and class of the status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.01, 0.05, 0.25, 1, 5],
    registers: [registry],
  })
  return (method, route, status, seconds) =>
    duration.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, seconds)
}

/** Returns functions that count dropped packets. */
export function createOscCounters({ registry }: Counters): {
  countBad(): void
  countExcess(): void
} {
  const registers = [registry]
  const bad = new Counter({
    name: 'micwatch_osc_bad_packets_total',
    help: 'OSC packets that were dropped because they are malformed.',
    registers,
  })
  const excess = new Counter({
    name: 'micwatch_osc_excess_packets_total',
    help: 'OSC packets that were dropped because their sender sends too many.',
    registers,
  })
  return { countBad: () => bad.inc(), countExcess: () => excess.inc() }
}

/** Returns a function that sets the metric. */
export function createMqttGauge({ registry }: Counters): (isConnected: boolean) => void {
  const connected = new Gauge({
    name: 'micwatch_mqtt_connected',
    help: '1 while this process is connected to the MQTT broker, else 0. One process of an installation is.',
    registers: [registry],
  })
  return (isConnected) => connected.set(isConnected ? 1 : 0)
}
