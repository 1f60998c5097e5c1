/**
 * Decides which report wins if a receiver is reported over two protocols, for example a Shure receiver by its system
 * and by the receiver itself. It is stored as one receiver, under the id that belongs to the protocol with the higher
 * precedence. Recent reports over that protocol win; the other protocol supplies the fields that they lack. After a
 * period without such reports, the other protocol takes over.
 */

import type { ChannelReading, DeviceReport, Receiver, TransmitterReading } from '../equipment/receiver.ts'
import { hardwareFields, reportedField } from '../equipment/receiver.ts'

export interface ProtocolPrecedence {
  /**
   * Returns the report itself if all of it applies to the known receiver. Otherwise returns the part that applies, with
   * the receiver's `api_device_id` as its id. A report with lower precedence does not mark the receiver as online.
   */
  apply(receiver: Receiver, report: DeviceReport): DeviceReport
  /** True if the receiver is reported over several protocols. Every report then has to pass through `apply`. */
  isContested(receiver: Receiver): boolean
}

/** Reports with the higher precedence win for this long after the last one. */
const precedenceMs = 30_000

interface ReportedFields {
  readonly fields: Set<string>
  readonly channels: Map<number, ReportedChannelFields>
}

interface ReportedChannelFields {
  readonly fields: Set<string>
  readonly details: Set<string>
  readonly transmitter: Set<string>
  readonly transmitterDetails: Set<string>
  /** Null if the protocol reports that there is no transmitter; undefined if it does not report transmitters. */
  hasTransmitter: boolean | null | undefined
}

/**
 * `precedenceOf` returns the precedence of the protocol that uses this device id; the higher number wins. `silentMs`
 * returns the time since the last report of the receiver.
 */
export function createProtocolPrecedence(
  precedenceOf: (id: string) => number,
  silentMs: (receiverId: number) => number,
): ProtocolPrecedence {
  /**
   * The fields reported over the protocol with the higher precedence, by receiver id. Contains only receivers that are
   * reported over several protocols.
   */
  const reportedFields = new Map<number, ReportedFields>()
  return {
    isContested: ({ id }) => reportedFields.has(id),
    apply(receiver, report) {
      const { id, api_device_id } = receiver
      if (api_device_id === report.id || api_device_id === null) {
        const reported = reportedFields.size === 0 ? undefined : reportedFields.get(id)
        if (reported !== undefined) addReport(reported, report)
        return report
      }
      const isAtLeastEqual = precedenceOf(report.id) >= precedenceOf(api_device_id)
      if (isAtLeastEqual || silentMs(id) > precedenceMs) {
        if (isAtLeastEqual && precedenceOf(report.id) > precedenceOf(api_device_id))
          reportedFields.set(id, addReport(emptyReportedFields(), report))
        else reportedFields.delete(id)
        return report
      }
      // If this process has recorded no reports with the higher precedence, another process may be receiving them.
      // Every stored value of the receiver then counts as reported by them.
      const reported = reportedFields.get(id) ?? addReport(emptyReportedFields(), toReport(receiver))
      return { ...withoutReported(report, reported), id: api_device_id, online: false }
    },
  }
}

function emptyReportedFields(): ReportedFields {
  return { fields: new Set(), channels: new Map() }
}

function toReport(receiver: Receiver): DeviceReport {
  return { ...receiver, id: receiver.api_device_id ?? '', kind: 'receiver', model_name: receiver.model }
}

function addReport(reported: ReportedFields, report: DeviceReport): ReportedFields {
  for (const field of hardwareFields) {
    const value = reportedField(report, field)
    if (value !== undefined && value !== null) reported.fields.add(field)
  }
  for (const reading of report.channels ?? []) {
    const existing = reported.channels.get(reading.channel)
    const channelFields = existing ?? {
      fields: new Set(),
      details: new Set(),
      transmitter: new Set(),
      transmitterDetails: new Set(),
      hasTransmitter: undefined,
    }
    if (existing === undefined) reported.channels.set(reading.channel, channelFields)
    addChannelReading(channelFields, reading)
  }
  return reported
}

function addChannelReading(
  channelFields: ReportedChannelFields,
  { channel: _, transmitter, details, ...levels }: ChannelReading,
): void {
  addKeys(channelFields.fields, levels)
  addKeys(channelFields.details, details)
  if (transmitter === undefined) return
  channelFields.hasTransmitter = transmitter === null ? null : true
  if (transmitter === null) return
  const { details: transmitterDetails, ...fields } = transmitter
  addKeys(channelFields.transmitter, fields)
  addKeys(channelFields.transmitterDetails, transmitterDetails)
}

function addKeys(keys: Set<string>, fields: object | undefined): void {
  for (const [key, value] of Object.entries(fields ?? {})) if (value !== null && value !== undefined) keys.add(key)
}

function withoutReported(report: DeviceReport, reported: ReportedFields): DeviceReport {
  const { channels, ...rest } = report
  const hidden = new Set([...reported.fields].map((field) => (field === 'model' ? 'model_name' : field)))
  const remaining = omit(rest, hidden) as DeviceReport
  if (channels === undefined) return remaining
  return {
    ...remaining,
    channels: channels.map((reading) => withoutReportedChannelFields(reading, reported.channels.get(reading.channel))),
  }
}

function withoutReportedChannelFields(
  reading: ChannelReading,
  reported: ReportedChannelFields | undefined,
): ChannelReading {
  if (reported === undefined) return reading
  const { channel, transmitter, details, ...levels } = reading
  const remaining = withoutReportedTransmitterFields(transmitter, reported)
  return {
    channel,
    ...omit(levels, reported.fields),
    ...(details && { details: omit(details, reported.details) }),
    ...(remaining !== undefined && { transmitter: remaining }),
  }
}

/**
 * Removes the transmitter fields that the protocol with the higher precedence reports. That protocol also decides
 * whether there is a transmitter.
 */
function withoutReportedTransmitterFields(
  transmitter: ChannelReading['transmitter'],
  reported: ReportedChannelFields,
): TransmitterReading | null | undefined {
  if (reported.hasTransmitter === undefined) return transmitter
  if (reported.hasTransmitter === null || transmitter === null || transmitter === undefined) return undefined
  const { details, ...fields } = transmitter
  return {
    ...omit(fields, reported.transmitter),
    ...(details && { details: omit(details, reported.transmitterDetails) }),
  }
}

function omit<T extends object>(fields: T, keys: ReadonlySet<string>): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.has(key))) as Partial<T>
}
