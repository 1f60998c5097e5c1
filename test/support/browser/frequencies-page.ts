/** Shared by the tests of the frequencies page: a fake service with the real rules, and locators. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import type {
  FrequenciesBody,
  FrequencyCarrierBody,
  FrequencyNoiseBody,
  MeasuredBody,
} from '../../../src/contract/frequencies.ts'
import type { FrequencyPlanBody } from '../../../src/contract/frequency-plans.ts'
import type { ScanLevelsBody } from '../../../src/contract/scans.ts'
import { defaultSettings } from '../../../src/contract/settings.ts'
import type { GuardLevel, Permission } from '../../../src/contract/values.ts'
import { createCarrier, formatMhz, parseMhz } from '../../../src/domain/frequencies/carrier.ts'
import { checkCarriers } from '../../../src/domain/frequencies/check.ts'
import { defaultMeasured } from '../../../src/domain/frequencies/measured-options.ts'
import { builtInProfiles, equipmentOf, type Profile } from '../../../src/domain/frequencies/profiles.ts'
import { findTvChannel, parseTvInUse } from '../../../src/domain/frequencies/tv-raster.ts'
import { buildGroup } from '../builders.ts'
import { onTestEnd } from '../cleanup.ts'
import { receiver, startFakeService } from './fake-service.ts'

/** Eight carriers with two hits at the standard distance of ULX-D. */
const eight = ['485.000', '486.625', '488.175', '488.725', '490.125', '495.025', '498.475', '499.875']

export interface FakeFrequencies {
  carriers: FrequencyCarrierBody[]
  scans: ScanLevelsBody[]
  /** The rows that the next uploads do not read. */
  skippedRows: { file?: string; line: number; why: string }[]
  noise: FrequencyNoiseBody['channels']
  tvInUse: string
  tv: FrequenciesBody['tv']
  measured: MeasuredBody
  /** The requests that were not GET: method, path and body. */
  readonly written: (readonly [method: string, path: string, body: string])[]
}

export function carrier(id: number, mhz: string, others: Partial<FrequencyCarrierBody> = {}): FrequencyCarrierBody {
  return {
    ...{ id: `c${id}`, channel_id: id, slot: id, name: `Mic ${id}`, mhz, model: 'ULXD4Q G51', profile: 'ulxd' },
    ...{ zone: null, transmitter_on: true, rf_level: -50 - (id % 20), noise_dbm: null },
    ...{ tv_channel: findTvChannel('EU', parseMhz(mhz) ?? 0), measured: 'unmeasured', ...others },
  }
}

/** Starts a service with these carriers, by default eight microphones, an idle channel with noise and a placeholder. */
export async function startFrequencies(permissions: readonly Permission[] = ['read', 'operate', 'configure']) {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.responses['/api/auth/session'] = { user: null, role: 'operator', csrf_token: null, permissions }
  service.data.responses['/api/frequency-plans/'] = []
  service.data.responses['/api/sweeps/'] = []
  service.data.responses['/api/tv-stations/'] = { count: 0, next: null, previous: null, results: [] }
  service.data.responses['/api/admin/locations/'] = []
  service.data.responses['/api/frequencies/bands/'] = {
    ...{ country: 'DE', updated: null, edited_by: null, sources: [], bands: [] },
  }
  service.data.receivers = [receiver(1, [{}, {}, {}, {}]), receiver(2, [{}, {}, {}, {}])]
  service.data.groups = [buildGroup(5, { title: 'Band', slots: [1, 2, 3] })]
  const idle = { transmitter_on: false, rf_level: -88, noise_dbm: -88 }
  const { channel_id: _, ...planned } = carrier(10, '503.125', { transmitter_on: null, rf_level: null, model: null })
  const frequencies: FakeFrequencies = {
    carriers: [
      ...eight.map((mhz, index) => carrier(index + 1, mhz)),
      carrier(9, '502.000', { ...idle, profile: 'generic' }),
      { ...planned, id: 'p3', placeholder_id: 3, name: 'IEM Drums' },
    ],
    scans: [],
    skippedRows: [],
    noise: [],
    tvInUse: '',
    tv: [],
    measured: defaultMeasured,
    written: [],
  }
  service.data.handle = (request, response, mount) => handle(frequencies, request, response, mount)
  return { service, frequencies }
}

function handle(
  frequencies: FakeFrequencies,
  request: IncomingMessage,
  response: ServerResponse,
  mount: string,
): boolean {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
  const path = pathname.slice(mount.length)
  const isOwn = ['/api/frequencies/', '/api/scans/', '/api/config/'].some((start) => path.startsWith(start))
  if (!isOwn) return false
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString()
    if (request.method !== 'GET') frequencies.written.push([request.method ?? '', path, text])
    const [status, body] = respond(frequencies, `${request.method} ${path}`, text, searchParams)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  })
  return true
}

type Checked = Pick<FrequencyCarrierBody, 'id' | 'mhz' | 'profile' | 'zone'> & Partial<FrequencyCarrierBody>

interface CheckRequest {
  readonly carriers: readonly Checked[]
  readonly level: GuardLevel
  readonly victims?: readonly string[]
}

function check(
  { tvInUse }: FakeFrequencies,
  carriers: readonly Checked[],
  level: GuardLevel,
  victims: readonly string[] | null = null,
) {
  const parts = carriers.map(({ id, mhz, profile, zone, transmitter_on, noise_dbm }) => {
    const found = builtInProfiles.find((candidate) => candidate.id === profile) as Profile
    const hasForeignRf = transmitter_on === false && (noise_dbm ?? -120) > -75
    return createCarrier({ id, khz: parseMhz(mhz) ?? 0, zone, hasForeignRf }, equipmentOf(found, level))
  })
  return checkCarriers(parts, { tvInUse: parseTvInUse('EU', tvInUse).inUse, victims })
}

function respond(
  frequencies: FakeFrequencies,
  request: string,
  text: string,
  query: URLSearchParams,
): readonly [status: number, body?: unknown] {
  const { scans } = frequencies
  const scanId = Number(/^\w+ \/api\/scans\/(\d+)\/$/.exec(request)?.[1])
  if (request === `DELETE /api/scans/${scanId}/`) {
    frequencies.scans = scans.filter(({ id }) => id !== scanId)
    return [204]
  }
  if (request === `GET /api/scans/${scanId}/`) return [200, scans.find(({ id }) => id === scanId)]
  switch (request) {
    case 'GET /api/frequencies/': {
      const level = (query.get('level') ?? 'standard') as GuardLevel
      const carriers = frequencies.carriers.filter((item) => !query.has('only_on') || item.transmitter_on === true)
      const inGroup = carriers.filter(({ slot }) => !query.has('group') || slot <= 3)
      const result = check(
        frequencies,
        carriers,
        level,
        inGroup.map(({ id }) => id),
      )
      const considered = { scan_ids: frequencies.measured.scan_ids, tv: frequencies.tv }
      const checkedAt = new Date().toISOString()
      return [200, { region: 'EU', ...considered, ...result, carriers: inGroup, checked_at: checkedAt }]
    }
    case 'POST /api/frequencies/check/': {
      const { carriers, level, victims } = JSON.parse(text) as CheckRequest
      const states = carriers.map(({ id }) => ({ id, measured: 'unmeasured' }))
      return [200, { ...check(frequencies, carriers, level, victims), carriers: states }]
    }
    case 'GET /api/frequencies/measured/':
      return [200, frequencies.measured]
    case 'PUT /api/frequencies/measured/':
      frequencies.measured = { ...frequencies.measured, ...(JSON.parse(text) as Partial<MeasuredBody>), version: 1 }
      return [200, frequencies.measured]
    case 'POST /api/frequencies/suggest/': {
      const { wanted } = JSON.parse(text) as { wanted: { profile: string; count: number }[] }
      const [{ profile, count }] = wanted as [{ profile: string; count: number }]
      const placed = Math.min(3, count)
      const carriers = Array.from({ length: placed }, (_, index) => ({
        profile,
        mhz: formatMhz(510_000 + index * 700),
        soft: index === 2 ? ['2t5o'] : [],
        measured: 'free',
      }))
      const reason = { kind: 'spacing', by: ['new:510.000', 'c5'] }
      return [200, { carriers, unplaced: count > placed ? [{ profile, count: count - placed, reason }] : [] }]
    }
    case 'GET /api/frequencies/noise/': {
      const [from, to] = ['2026-11-21T20:00:00.000Z', '2026-11-22T20:00:00.000Z']
      return [200, { from, to, step_seconds: 60, channels: frequencies.noise }]
    }
    case 'GET /api/frequencies/profiles/':
      return [200, builtInProfiles.slice(0, 12).map(toBody)]
    case 'GET /api/config/':
      return [200, { ...defaultSettings, REGION: 'EU', TV_IN_USE: frequencies.tvInUse }]
    case 'POST /api/config/':
      frequencies.tvInUse = (JSON.parse(text) as { value: string }).value
      return [200, { ...defaultSettings, TV_IN_USE: frequencies.tvInUse }]
    case 'GET /api/scans/':
      return [200, scans.map(({ mhz: _, dbm: __, ...scan }) => scan)]
    case 'POST /api/scans/': {
      const added = scan(scans.length + 1)
      frequencies.scans = [...scans, added]
      const { mhz: _, dbm: __, ...body } = added
      return [201, { ...body, rows_read: body.points, rows_skipped: frequencies.skippedRows }]
    }
    default:
      return text === '' ? [404, { error: 'Not found.' }] : [200, toBody(builtInProfiles[0] as Profile)]
  }
}

function toBody({ bands, ...profile }: Profile) {
  return { ...profile, bands: [], is_built_in: true, is_changed: false }
}

export function buildPlan(title: string): FrequencyPlanBody {
  return {
    ...{ id: 1, title, show_id: null, region: 'EU', carriers: [], spares: [], settings: {} },
    ...{ conflicts: [], conflict_count: 0, created_by: 'Kim', created_at: '2026-11-22T19:00:00.000Z' },
    ...{ active: false, version: 1 },
  }
}

/** A scan of the TV band with a peak every 8 MHz. */
export function scan(id: number, points = 2_000): ScanLevelsBody {
  const mhz = Array.from({ length: points }, (_, index) => formatMhz(470_000 + Math.round((index * 224_000) / points)))
  const dbm = mhz.map((text, index) => (Math.round(Number(text)) % 8 === 0 ? -70 : -100 - (index % 3)))
  return {
    ...{ id, name: `foyer-${id}.csv`, format: 'csv', points, from_mhz: '470.000', to_mhz: '694.000', taken_at: null },
    ...{ unit: 'dBm', calibrated: true, step_khz: 112 },
    ...{ uploaded_at: '2026-11-22T19:00:00.000Z', by: 'Kim', version: 1, mhz, dbm },
  }
}

/** Opens a tab of the page: `Scans`, for example. */
export const openTab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the page' }).getByRole('button', { name }).click()
export const conflicts = (page: Page) => page.getByRole('region', { name: 'Conflicts' })
export const spectrum = (page: Page) => page.getByRole('region', { name: 'Spectrum' })
export const chosen = (page: Page) => page.getByRole('slider', { name: 'Selected carrier' })
/** The lowest and the highest visible frequency in MHz. */
export async function rangeOf(page: Page): Promise<readonly [from: number, to: number]> {
  const text = await spectrum(page)
    .getByText(/ to .* MHz$/)
    .innerText()
  const [from = 0, to = 0] = text.replace(' MHz', '').split(' to ').map(Number)
  return [from, to]
}
