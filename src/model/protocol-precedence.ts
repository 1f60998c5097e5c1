/**
 * Whose word counts where a receiver is heard in two forms, a Shure receiver through its system and by its own command
 * strings for instance. It stays one receiver, under the id of the better form; that form's word stands while it is
 * fresh, what it does not tell is taken from the other, and when it falls silent the other takes over.
 */

import type { ChannelReading, DeviceReport, Receiver, TransmitterReading } from './receiver.ts'
import { hardwareFields } from './receiver.ts'

export interface ProtocolPrecedence {
  /**
   * What of an observation of this known receiver is to be believed, in the receiver's own id; the very observation
   * where all of it is. What stands back does not count as hearing the receiver.
   */
  apply(receiver: Receiver, report: DeviceReport): DeviceReport
}

/** The better form's word stands for so long after the last one. */
const precedenceMs = 30_000

/** Which fields somebody tells. */
interface ReportedFields {
  readonly fields: Set<string>
  readonly channels: Map<number, ReportedChannelFields>
}

interface ReportedChannelFields {
  readonly fields: Set<string>
  readonly details: Set<string>
  readonly transmitter: Set<string>
  readonly transmitterDetails: Set<string>
  /** Null: it says that there is none; undefined: it says nothing of it. */
  hasTransmitter: boolean | null | undefined
}

/**
 * `rankOf`: of the form whose id this is; the higher one is the better. `silentMs`: how long ago the receiver was last
 * heard from.
 */
export function createProtocolPrecedence(
  precedenceOf: (id: string) => number,
  silentMs: (receiverId: number) => number,
): ProtocolPrecedence {
  /** By receiver, of those that are heard in several forms: what the better one tells. */
  const shared = new Map<number, ReportedFields>()
  return {
    apply(receiver, report) {
      const { id, api_device_id } = receiver
      if (api_device_id === report.id || api_device_id === null) {
        const told = shared.size === 0 ? undefined : shared.get(id)
        if (told !== undefined) addReport(told, report)
        return report
      }
      const isBetter = precedenceOf(report.id) >= precedenceOf(api_device_id)
      if (isBetter || silentMs(id) > precedenceMs) {
        if (isBetter && precedenceOf(report.id) > precedenceOf(api_device_id))
          shared.set(id, addReport(emptyReportedFields(), report))
        else shared.delete(id)
        return report
      }
      // Another process may hear the better one: then what is known is what it tells.
      const told = shared.get(id) ?? addReport(emptyReportedFields(), toReport(receiver))
      return { ...withoutReported(report, told), id: api_device_id, online: false }
    },
  }
}

function emptyReportedFields(): ReportedFields {
  return { fields: new Set(), channels: new Map() }
}

function toReport(receiver: Receiver): DeviceReport {
  return { ...receiver, id: receiver.api_device_id ?? '', kind: 'receiver', model_name: receiver.model }
}

/** Adds what is told here. */
function addReport(told: ReportedFields, report: DeviceReport): ReportedFields {
  for (const field of hardwareFields) {
    const value = field === 'model' ? report.model_name : report[field]
    if (value !== undefined && value !== null) told.fields.add(field)
  }
  for (const reading of report.channels ?? []) {
    const before = told.channels.get(reading.channel)
    const own = before ?? {
      fields: new Set(),
      details: new Set(),
      transmitter: new Set(),
      transmitterDetails: new Set(),
      hasTransmitter: undefined,
    }
    if (before === undefined) told.channels.set(reading.channel, own)
    addChannelReading(own, reading)
  }
  return told
}

function addChannelReading(
  own: ReportedChannelFields,
  { channel: _, transmitter, details, ...levels }: ChannelReading,
): void {
  addKeys(own.fields, levels)
  addKeys(own.details, details)
  if (transmitter === undefined) return
  own.hasTransmitter = transmitter === null ? null : true
  if (transmitter === null) return
  const { details: further, ...fields } = transmitter
  addKeys(own.transmitter, fields)
  addKeys(own.transmitterDetails, further)
}

function addKeys(keys: Set<string>, fields: object | undefined): void {
  for (const [key, value] of Object.entries(fields ?? {})) if (value !== null && value !== undefined) keys.add(key)
}

function withoutReported(report: DeviceReport, told: ReportedFields): DeviceReport {
  const { channels, ...rest } = report
  const hidden = new Set([...told.fields].map((field) => (field === 'model' ? 'model_name' : field)))
  const left = omit(rest, hidden) as DeviceReport
  if (channels === undefined) return left
  return {
    ...left,
    channels: channels.map((reading) => withoutReportedChannelFields(reading, told.channels.get(reading.channel))),
  }
}

function withoutReportedChannelFields(
  reading: ChannelReading,
  told: ReportedChannelFields | undefined,
): ChannelReading {
  if (told === undefined) return reading
  const { channel, transmitter, details, ...levels } = reading
  const rest = transmitterWithout(transmitter, told)
  return {
    channel,
    ...omit(levels, told.fields),
    ...(details && { details: omit(details, told.details) }),
    ...(rest !== undefined && { transmitter: rest }),
  }
}

/** Whether there is one is for the better form to say. */
function transmitterWithout(
  transmitter: ChannelReading['transmitter'],
  told: ReportedChannelFields,
): TransmitterReading | null | undefined {
  if (told.hasTransmitter === undefined) return transmitter
  if (told.hasTransmitter === null || transmitter === null || transmitter === undefined) return undefined
  const { details, ...fields } = transmitter
  return { ...omit(fields, told.transmitter), ...(details && { details: omit(details, told.transmitterDetails) }) }
}

function omit<T extends object>(fields: T, keys: ReadonlySet<string>): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.has(key))) as Partial<T>
}
