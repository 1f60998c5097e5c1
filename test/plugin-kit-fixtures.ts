/** Fixtures in a manufacturer's folder: responses of a system, and the device reports they are transformed into. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { type ChannelDetails, faults, type TransmitterDetails } from '../src/model/details.ts'
import type { DeviceReport } from '../src/model/receiver.ts'
import { type MinimalServer, serveHttp } from './plugin-kit-server.ts'

export interface Fixture {
  /** Origin of the responses. */
  readonly source: string
  /** By path; every other request gets 404. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Without `metadata`. */
  readonly reports: readonly DeviceReport[]
}

/** In a fixture the word MEGABYTE stands for a text of that length. */
export function readFixtures(folder: URL): { name: string; fixture: Fixture }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      const fixture = JSON.parse(text.replaceAll('MEGABYTE', 'm'.repeat(1024 * 1024))) as Fixture
      if (fixture.source.length < 10) throw new Error(`${name} does not say where it comes from`)
      return { name, fixture }
    })
}

/** Starts a system without credentials that returns the fixture's responses. */
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
const whole = (min: number, max: number) =>
  expect.toSatisfy((value) => Number.isInteger(value) && value >= min && value <= max, `a whole number ${min}…${max}`)

const ofLevels = { name, frequency, audio_level: whole(-200, 0), rf_level: whole(-200, 50) }
const ofTransmitter = { ...ofLevels, upstream_slot: whole(0, 65_535), battery: whole(0, 100) }
const flag = expect.any(Boolean)
const ofChannelDetails: Record<keyof ChannelDetails, unknown> = {
  ...{ rf_a: ofLevels.rf_level, rf_b: ofLevels.rf_level, rf_c: ofLevels.rf_level, rf_d: ofLevels.rf_level },
  ...{ audio_peak: ofLevels.audio_level, audio_rms: ofLevels.audio_level, quality: whole(0, 100) },
  rf_percent: whole(0, 100),
  audio_activity: expect.stringMatching(/^(low|good|clipping)$/),
  antennas: expect.stringMatching(/^A?B?C?D?$/),
  ...{ rf_low: flag, overload: flag, second_frequency: frequency },
  ...{ interference: flag, muted: flag, encryption: expect.stringMatching(/^(off|on|error)$/) },
  gain_db: whole(-120, 120),
}
const ofTransmitterDetails: Record<keyof TransmitterDetails, unknown> = {
  ...{ model: text, muted: flag, gain_db: whole(-120, 120), power_mw: whole(0, 10_000) },
  ...{ battery_bars: whole(0, 5), battery_minutes: whole(0, 65_535), battery_type: text },
  battery_minutes_to_full: whole(0, 65_535),
  ...{ battery_health: whole(0, 100), battery_cycles: whole(0, 65_535), battery_temperature_c: whole(-40, 215) },
  battery_is_estimate: flag,
  battery_low: flag,
  fault: expect.toSatisfy((value) => faults.includes(value), 'one of the faults'),
}
const ipv4 = expect.stringMatching(/^\d{1,3}(\.\d{1,3}){3}$/)
const ofDevice = {
  battery: whole(0, 100),
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

/** Expects the units and limits of `model/receiver.ts`. Fields may be null or missing; there are no others. */
export function expectCommonFormat(report: DeviceReport): void {
  const {
    id,
    kind,
    name: called,
    online,
    device_type,
    channels = [],
    units = [],
    metadata,
    details: ofItself = {},
    ...fields
  } = report
  expect({ id, called, online, device_type }).toEqual({
    id: text,
    called: name,
    online: expect.any(Boolean),
    device_type: text,
  })
  expect(['receiver', 'transmitter']).toContain(kind)
  expectFields(fields, ofDevice)
  expectFields(ofItself, ofTransmitterDetails)
  for (const unit of units) {
    expect(unit.kind).toBe('transmitter')
    expectCommonFormat(unit)
  }
  for (const { channel, transmitter, details: ofIt = {}, ...levels } of channels) {
    const { details = {}, ...fields } = transmitter ?? {}
    expect(channel).toEqual(whole(1, 65_535))
    expectFields(levels, ofLevels)
    expectFields(ofIt, ofChannelDetails)
    expectFields(fields, ofTransmitter)
    expectFields(details, ofTransmitterDetails)
  }
}

function expectFields(fields: object, expected: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(fields)) {
    expect(Object.keys(expected)).toContain(field)
    if (value !== null) expect(value, field).toEqual(expected[field])
  }
}
