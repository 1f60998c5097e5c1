/**
 * The form with which a user confirms a model, `.github/ISSUE_TEMPLATE/confirmation.yml`, filled in for a receiver. The
 * tracker is public and in English, so no text contains names, serial numbers or addresses, and none is translated.
 */

import type { ChannelBody } from '../../contract/channels.ts'

/** The properties of a receiver that the form contains. */
export interface ConfirmedReceiver {
  readonly manufacturer: string
  readonly model: string | null
  readonly device_type: string
  readonly firmware_version: string | null
  readonly channels: readonly ChannelBody[]
  /** Addresses of the sources. */
  readonly sources: readonly string[]
}

/** By the ids of the form's fields. */
export interface Confirmation {
  readonly title: string
  readonly model: string
  readonly firmware: string
  readonly version: string
  readonly connection: string
  readonly values: string
  readonly faults: string
  readonly show: string
}

/** Field of the form -> label. */
export const confirmationLabels: Readonly<Record<Exclude<keyof Confirmation, 'title'>, string>> = {
  model: 'Model and band',
  firmware: 'Firmware',
  version: 'Version of Micwatch',
  connection: 'Connection',
  values: "I compared these values on the device's own screen",
  faults: 'I tried these faults',
  show: 'The show',
}

const faults = [
  'Transmitter switched off',
  'Transmitter muted',
  'Battery run low',
  'Transmitter out of range',
  "Receiver's network cable disconnected",
]

export function createConfirmation(receiver: ConfirmedReceiver, version: string): Confirmation {
  const { manufacturer, model, device_type, firmware_version, channels, sources } = receiver
  const name = model ?? `${manufacturer} ${device_type}`
  const firmware = firmware_version ?? ''
  return {
    ...{ title: `Confirmed: ${[name, firmware].filter(Boolean).join(' ')}`, model: name, firmware, version },
    connection: [...new Set(sources.map((address) => address.replace(/(?<=:\/\/).*/, '')))].join(', '),
    values: toList(listValues(channels)),
    faults: toList(faults),
    show: 'Hours: \nChannels: ',
  }
}

/** Returns the address that opens the form. */
export function confirmationUrl(projectUrl: string, confirmation: Confirmation): string {
  const parameters = Object.entries({ template: 'confirmation.yml', ...confirmation })
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${projectUrl.replace(/\/+$/, '')}/issues/new?${query}`
}

/** Returns the filled-in form as text. */
export function confirmationText({ title, ...fields }: Confirmation): string {
  const sections = Object.entries(confirmationLabels).map(
    ([field, label]) => `### ${label}\n\n${fields[field as keyof typeof fields]}\n`,
  )
  return [`# ${title}\n`, ...sections].join('\n')
}

const toList = (items: readonly string[]) => items.map((item) => `- [ ] ${item}`).join('\n')

/** Returns the kinds of values that at least one of the channels reports. */
function listValues(channels: readonly ChannelBody[]): readonly string[] {
  const details = channels.flatMap((channel) => [channel.details ?? {}, channel.transmitter?.details ?? {}])
  const has = (isReported: (channel: ChannelBody) => unknown) =>
    channels.some((channel) => (isReported(channel) ?? null) !== null)
  const hasDetail = (...names: readonly string[]) =>
    details.some((fields) => names.some((name) => ((fields as Record<string, unknown>)[name] ?? null) !== null))
  const values: readonly (readonly [string, boolean])[] = [
    ['Model and firmware', true],
    ['Names', has(({ name }) => name)],
    ['Frequencies', has(({ frequency }) => frequency)],
    ['RF levels', has(({ rf_level }) => rf_level)],
    ['Antennas in use', hasDetail('antennas')],
    ['Quality', hasDetail('quality')],
    ['Audio levels', has(({ audio_level }) => audio_level)],
    ['Battery', has(({ transmitter }) => transmitter?.battery)],
    ['Battery minutes', hasDetail('battery_minutes')],
    ['Mute', hasDetail('muted')],
    ['Encryption', hasDetail('encryption')],
    ['Model of the transmitter', hasDetail('model')],
    ['Gain', hasDetail('gain_db')],
  ]
  return values.flatMap(([value, isReported]) => (isReported ? [value] : []))
}
