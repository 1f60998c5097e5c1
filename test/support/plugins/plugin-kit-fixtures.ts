/** Fixtures in a manufacturer's folder: responses of a system, and the device reports they are transformed into. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { FaultWord } from '../../../src/contract/alert-data.ts'
import type { ChannelDetails, TransmitterDetails, TransmitterSlot } from '../../../src/contract/channels.ts'
import { faults } from '../../../src/contract/faults.ts'
import type { ReceiverDetails } from '../../../src/contract/receivers.ts'
import type { DeviceReport } from '../../../src/domain/equipment/receiver.ts'
import { type MinimalServer, serveHttp } from './plugin-kit-server.ts'

export interface Fixture {
  /** Origin of the responses. */
  readonly source: string
  /** Responses by path; requests for other paths result in 404. */
  readonly answers: Readonly<Record<string, unknown>>
  /** The expected reports, without `metadata`. */
  readonly reports: readonly DeviceReport[]
}

/** Reads the fixtures in `folder`, and replaces the word MEGABYTE with a text of one megabyte. */
export function readFixtures(folder: URL): { name: string; fixture: Fixture }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      const fixture = JSON.parse(text.replaceAll('MEGABYTE', 'm'.repeat(1024 * 1024))) as Fixture
      if (fixture.source.length < 10) throw new Error(`${name} has no source`)
      return { name, fixture }
    })
}

/** Starts a system that requires no credentials and returns the fixture's responses. */
export function serveFixture({ answers: responses }: Fixture): Promise<MinimalServer> {
  return serveHttp({
    onRequest(request, response) {
      const body = responses[request.url ?? '']
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    },
  })
}

export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

const text = expect.stringMatching(/^[^\p{Cc}\p{Cs}]{1,1024}$/u)
const name = expect.stringMatching(/^[^\p{Cc}\p{Cs}]{1,255}$/u)
const frequency = expect.stringMatching(/^\d{1,5}\.\d{3}$/)
const integer = (min: number, max: number) =>
  expect.toSatisfy((value) => Number.isInteger(value) && value >= min && value <= max, `a whole number ${min}…${max}`)

const levelFields = { name, frequency, audio_level: integer(-200, 0), rf_level: integer(-200, 50) }
const transmitterFields = { ...levelFields, upstream_slot: integer(0, 65_535), battery: integer(0, 100) }
const flag = expect.any(Boolean)
const slotFields: Record<keyof TransmitterSlot, unknown> = {
  ...{ slot: integer(1, 99), status: expect.stringMatching(/^(active|inactive|standard)$/), on_air: flag },
  ...{ model: text, name, rf_muted: flag },
  ...{ battery: integer(0, 100), battery_bars: integer(0, 5), battery_minutes: integer(0, 65_535), battery_type: text },
}
const channelDetailFields: Record<keyof ChannelDetails, unknown> = {
  ...{ rf_a: levelFields.rf_level, rf_b: levelFields.rf_level, rf_c: levelFields.rf_level, rf_d: levelFields.rf_level },
  ...{ audio_peak: levelFields.audio_level, audio_rms: levelFields.audio_level, quality: integer(0, 100) },
  rf_percent: integer(0, 100),
  audio_activity: expect.stringMatching(/^(low|good|clipping)$/),
  antennas: expect.stringMatching(/^A?B?C?D?$/),
  ...{
    rf_low: flag,
    rf_concealed: flag,
    rf_overload: flag,
    booster_feed: flag,
    sync_result: text,
    overload: flag,
    second_frequency: frequency,
  },
  ...{ interference: flag, muted: flag, encryption: expect.stringMatching(/^(off|on|error)$/) },
  gain_db: integer(-120, 120),
  frequency_diversity: expect.stringMatching(/^(off|combining|selection)$/),
  ...{ group_channel: expect.stringMatching(/^\w+,\w+$/), unregistered_transmitter: flag },
  ...{ input_level: expect.stringMatching(/^(aux|line)$/), audio_mode: text },
  slots: expect.any(Array),
  charging: expect.stringMatching(/^(charging|full)$/),
  ...{ band: text, transmission_mode: expect.stringMatching(/^(standard|high_density|link_density)$/) },
}
const isFaultWord = ({ part, word, ...rest }: FaultWord) =>
  text.asymmetricMatch(word) && (part === null || text.asymmetricMatch(part)) && Object.keys(rest).length === 0
const faultFields = {
  fault: expect.toSatisfy((value) => faults.includes(value), 'a known fault'),
  faults: expect.toSatisfy((list: readonly FaultWord[]) => list.length > 0 && list.every(isFaultWord), 'words'),
}
/** On a scale that is not public. */
const anyInteger = integer(-1_000_000, 1_000_000)
const transmitterDetailFields: Record<keyof TransmitterDetails, unknown> = {
  ...{ model: text, muted: flag, gain_db: integer(-120, 120), power_mw: integer(0, 10_000) },
  ...{ capsule: text, low_cut_hz: integer(0, 1000) },
  ...{ lock: expect.stringMatching(/^(none|power|menu|all)$/), talk_switch: flag },
  ...{ test_tone: flag, version_mismatch: flag, charging: expect.stringMatching(/^(charging|full)$/) },
  ...{ link_quality: anyInteger, rssi: anyInteger, rssi_2: anyInteger, antenna: anyInteger },
  ...{ battery_bars: integer(0, 5), battery_minutes: integer(0, 65_535), battery_type: text },
  battery_minutes_to_full: integer(0, 65_535),
  ...{ battery_health: integer(0, 100), battery_cycles: integer(0, 65_535), battery_temperature_c: integer(-40, 215) },
  battery_is_estimate: flag,
  battery_low: flag,
  ...faultFields,
}
const receiverDetailFields: Record<keyof ReceiverDetails, unknown> = {
  ...faultFields,
  ...{ state: text, temperature: text, entitlement: text, warnings: expect.any(Array), antennas: expect.any(Array) },
  ...{ supplies: expect.any(Object), fans: expect.any(Object), clock: expect.any(Object) },
  interfaces: expect.any(Object),
  // Only Micwatch itself sets it.
  scanning: expect.toSatisfy(() => false, 'nothing'),
}
const ipv4 = expect.stringMatching(/^\d{1,3}(\.\d{1,3}){3}$/)
const deviceFields = {
  battery: integer(0, 100),
  rf_level: levelFields.rf_level,
  model_name: text,
  serial_number: text,
  mac_address: expect.stringMatching(/^([0-9A-F]{2}:){5}[0-9A-F]{2}$/),
  ip: ipv4,
  subnet_mask: ipv4,
  gateway: ipv4,
  network_mode: text,
  interface_id: text,
  description: text,
  firmware_version: text,
  hosted_firmware_version: text,
}

/** Expects the units and limits in `domain/equipment/receiver.ts`. Fields may be null or missing; other fields are not allowed. */
export function expectCommonFormat(report: DeviceReport): void {
  const {
    id,
    kind,
    name: deviceName,
    online,
    device_type,
    channels = [],
    units = [],
    metadata,
    details: deviceDetails = {},
    ...fields
  } = report
  expect({ id, called: deviceName, online, device_type }).toEqual({
    id: text,
    called: name,
    online: expect.any(Boolean),
    device_type: text,
  })
  expect(['receiver', 'transmitter']).toContain(kind)
  expectFields(fields, deviceFields)
  expectFields(deviceDetails, kind === 'receiver' ? receiverDetailFields : transmitterDetailFields)
  for (const unit of units) {
    expect(unit.kind).toBe('transmitter')
    expectCommonFormat(unit)
  }
  for (const { channel, transmitter, details: channelDetails = {}, ...levels } of channels) {
    const { details = {}, ...fields } = transmitter ?? {}
    expect(channel).toEqual(integer(1, 65_535))
    expectFields(levels, levelFields)
    expectFields(channelDetails, channelDetailFields)
    for (const slot of channelDetails.slots ?? []) expectFields(slot, slotFields)
    expectFields(fields, transmitterFields)
    expectFields(details, transmitterDetailFields)
  }
}

function expectFields(fields: object, expected: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(fields)) {
    expect(Object.keys(expected)).toContain(field)
    if (value !== null) expect(value, field).toEqual(expected[field])
  }
}
