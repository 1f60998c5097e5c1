/**
 * The metrics that have a series for each receiver or channel. They are formatted here, because prom-client formats all
 * series at once, which blocks the event loop for a quarter of a second with 10,000 receivers.
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/
 */

import { isTimeSliceUsed, yieldToEventLoop } from '../../platform/time-slice.ts'
import type { Service } from '../../service.ts'

type Labels = Readonly<Record<string, string | number>>

/** Lines are encoded in parts of this many, because encoding all at once would block the event loop. */
const linesPerPart = 1000

/** A metric with many series, in the text format of Prometheus. */
class MetricText {
  readonly #name: string
  /** The label `installation`. */
  readonly #installation: string
  readonly #parts: Buffer[] = []
  #lines: string[]

  constructor(installationName: string, type: 'gauge' | 'counter', name: string, help: string) {
    this.#name = `micwatch_${name}`
    this.#installation = formatLabel('installation', installationName)
    this.#lines = [`# HELP ${this.#name} ${help}`, `# TYPE ${this.#name} ${type}`]
  }

  /** Adds a series, unless its value is not known. */
  add(labels: Labels, value: number | null): void {
    if (value === null) return
    const texts = Object.entries(labels).map(([name, label]) => formatLabel(name, String(label)))
    this.#lines.push(`${this.#name}{${texts.join(',')},${this.#installation}} ${value}`)
    if (this.#lines.length >= linesPerPart) this.#encode()
  }

  toBytes(): Buffer {
    this.#encode()
    return Buffer.concat(this.#parts)
  }

  #encode(): void {
    this.#parts.push(Buffer.from(this.#lines.map((line) => `${line}\n`).join('')))
    this.#lines = []
  }
}

function formatLabel(name: string, value: string): string {
  const escaped = /[\\\n"]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value
  return `${name}="${escaped}"`
}

/**
 * Formats the state of every receiver, the names that belong to ids, and the number of events of each channel.
 * `hasLevels` adds the battery and the levels of every channel.
 */
export async function formatEquipmentMetrics(
  { receiverStore, slotRecords, counters, installationName }: Service,
  hasLevels: boolean,
): Promise<Buffer> {
  const create = (type: 'gauge' | 'counter', name: string, help: string) =>
    new MetricText(installationName, type, name, help)
  const up = create('gauge', 'receiver_up', '1 while the receiver is online, else 0.')
  const receivers = create('gauge', 'receiver_info', 'Always 1; the labels describe the receiver.')
  const info = create('gauge', 'channel_info', 'Always 1; the labels describe the channel.')
  const dropouts = create('counter', 'channel_dropouts_total', 'RF dropouts.')
  const clipping = create('counter', 'channel_clipping_total', 'Periods of clipping.')
  const interference = create('counter', 'channel_interference_total', 'Periods of interference.')
  const battery = create('gauge', 'channel_battery_percent', "Battery level of the channel's transmitter.")
  const rf = create('gauge', 'channel_rf_level_dbm', 'RF level.')
  const audio = create('gauge', 'channel_audio_level_dbfs', 'Audio level.')
  for (const described of receiverStore.listFacts()) {
    if (isTimeSliceUsed()) await yieldToEventLoop()
    const { id: receiver_id, name: receiver, model, manufacturer, is_active } = described
    up.add({ receiver_id }, is_active ? 1 : 0)
    receivers.add({ receiver_id, name: receiver, model: model ?? '', manufacturer }, 1)
    for (const one of described.channels) {
      const { id: channel_id, channel, slot } = one
      const name = slotRecords.titleOf(described, one).title ?? ''
      info.add({ channel_id, receiver_id, channel, slot, name, receiver, manufacturer }, 1)
      // Without a series that begins at 0, Prometheus would not see the first event as an increase.
      dropouts.add({ channel_id }, counters.eventCount('rf_dropout', channel_id))
      clipping.add({ channel_id }, counters.eventCount('clipping', channel_id))
      interference.add({ channel_id }, counters.eventCount('interference', channel_id))
    }
    if (!hasLevels) continue
    for (const { id: channel_id, rf_level, audio_level, transmitter } of receiverStore.get(receiver_id)?.channels ??
      []) {
      battery.add({ channel_id }, transmitter?.battery ?? null)
      rf.add({ channel_id }, transmitter?.rf_level ?? rf_level)
      audio.add({ channel_id }, transmitter?.audio_level ?? audio_level)
    }
  }
  const all = [up, receivers, info, dropouts, clipping, interference, ...(hasLevels ? [battery, rf, audio] : [])]
  return Buffer.concat(all.map((metric) => metric.toBytes()))
}
