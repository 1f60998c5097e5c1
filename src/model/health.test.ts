import { expect, test } from 'vitest'
import {
  type DeviceProblem,
  manufacturerHealth,
  noDeviceErrors,
  noSources,
  type SourceRecord,
  serviceHealth,
  storeHealth,
  summarize,
  toDeviceErrors,
} from './health.ts'

const dayMs = 24 * 3600_000
const now = 100 * dayMs
const shure = { code: 'shure', base_url: 'http://a', isEnabled: true, sources: ['shure:a', 'shure:b'], unverified: [] }

function report(source: string, failures: number, more: Partial<SourceRecord> = {}): SourceRecord {
  const error = failures > 0 ? 'connection refused' : null
  const rest = { last_success_at: now - 1000, overruns: 0, warning: null, device_errors: noDeviceErrors }
  return { manufacturer: 'shure', source, consecutive_failures: failures, error, hold_until: 0, ...rest, ...more }
}

const unanswered = { last_success_at: null }
const held = { hold_until: now + 1, error: 'it is rate limited' }

// Conformance: C-5.28, C-5.31.
// Reliability: 2.1.4.
test.each([
  ['no report yet', [], 'unknown', 0],
  ['all well', [report('shure:a', 0), report('shure:b', 0)], 'healthy', 0],
  ['one of two fails', [report('shure:a', 5), report('shure:b', 0)], 'degraded', 0],
  ['one of two has not answered yet', [report('shure:a', 0), report('shure:b', 0, unanswered)], 'unknown', 0],
  ['one of two fails, the other has not answered yet', [report('shure:a', 3)], 'degraded', 3],
  ['one failure', [report('shure:a', 1), report('shure:b', 0)], 'degraded', 0],
  ['two failures', [report('shure:a', 2), report('shure:b', 2)], 'degraded', 2],
  ['three failures', [report('shure:a', 4), report('shure:b', 3)], 'unhealthy', 3],
  ['asked to wait', [report('shure:a', 0, held), report('shure:b', 0)], 'healthy', 0],
  ['asked to wait before any success', [report('shure:a', 0, { ...held, ...unanswered })], 'unknown', 0],
  ['asked to wait after a failure', [report('shure:a', 1, held), report('shure:b', 0)], 'degraded', 0],
  ['asked to wait after three failures', [report('shure:a', 3, held), report('shure:b', 3)], 'unhealthy', 3],
  ['a source that is configured no more', [report('shure:old', 9)], 'unknown', 0],
] as const)('%s', (_name, reports, status, failures) => {
  expect(manufacturerHealth(shure, reports, now)).toMatchObject({ status, consecutive_failures: failures })
})

test.each([
  ['a moment ago', now - 1, 'healthy'],
  ['almost a day ago', now - dayMs + 1, 'healthy'],
  ['a day ago', now - dayMs, 'unknown'],
  ['in a minute, on a clock that was set back since', now + 60_000, 'healthy'],
  ['next year, on a clock that was set back since', now + 365 * dayMs, 'unknown'],
  ['never', null, 'unknown'],
] as const)('the last success was %s', (_name, last_success_at, status) => {
  const one = { ...shure, sources: ['shure:a'] }
  expect(manufacturerHealth(one, [report('shure:a', 0, { last_success_at })], now).status).toBe(status)
})

test('without a source there is nothing to fail', () => {
  const health = manufacturerHealth({ ...shure, sources: [] }, [], now)
  expect(health).toEqual({ ...noSources, code: 'shure', base_url: 'http://a', status: 'unconfigured' })
  expect(serviceHealth([health], {}).status).toBe('healthy')
})

test('every failing source and device is named with its reason', () => {
  const sources = ['shure:a', 'shure:b', 'shure:c', 'shure:d', 'shure:e']
  const broken = (id: number) => ({ device: `d${id}`, error: 'ip cannot be read' })
  const reports = [
    report('shure:a', 3, { error: 'connection refused by a' }),
    report('shure:b', 1, { error: 'no answer from b' }),
    report('shure:c', 0, { ...held, ...unanswered, error: 'c is rate limited' }),
    report('shure:d', 0, { ...held, device_errors: { listed: [broken(1), broken(2)], more: 7 } }),
  ]
  expect(manufacturerHealth({ ...shure, sources }, reports, now, (source) => source === 'shure:e')).toMatchObject({
    status: 'degraded',
    error: 'connection refused by a',
    sources: [
      { source: 'a', status: 'unhealthy', consecutive_failures: 3, error: 'connection refused by a' },
      { source: 'b', status: 'degraded', consecutive_failures: 1, error: 'no answer from b' },
      { source: 'c', status: 'unknown', consecutive_failures: 0, error: 'c is rate limited' },
      { source: 'd', status: 'healthy', consecutive_failures: 0, error: null },
      { source: 'e', status: 'unhealthy', consecutive_failures: 0, error: expect.stringMatching(/^no process/) },
    ],
    details: ['c is rate limited', 'it is rate limited'],
    device_errors: [broken(1), broken(2)],
    more: 7,
  })
})

test('at most a hundred failing devices are listed, and the others counted', () => {
  const problem = 'ip cannot be read'
  const ofList: DeviceProblem = { about: 'the list', problem: 'it is empty' }
  const complaint = (id: number): DeviceProblem => ({ about: `device ${id}`, problem, device: String(id) })
  const complaints = [ofList, ...Array.from({ length: 80 }, (_, id) => complaint(id))]
  const device_errors = toDeviceErrors(complaints)
  expect([device_errors.listed.length, device_errors.more]).toEqual([80, 0])
  expect(device_errors.listed[0]).toEqual({ device: '0', error: problem })
  const reports = [report('shure:a', 0, { device_errors }), report('shure:b', 0, { device_errors })]
  const health = manufacturerHealth(shure, reports, now)
  expect([health.status, health.device_errors.length, health.more]).toEqual(['healthy', 100, 60])
  expect(toDeviceErrors([...complaints, ...complaints])).toMatchObject({ more: 60 })
})

test.each([
  ['all of them', ['shure:a', 'shure:b'], 'unhealthy', /^no process polls it/],
  ['one of them', ['shure:a'], 'degraded', /^no process polls it/],
  ['none of them', [], 'healthy', null],
] as const)('sources that nobody polls are not well, though nothing failed: %s', (_name, unpolled, status, error) => {
  const well = [report('shure:a', 0), report('shure:b', 0)]
  const told = manufacturerHealth(shure, well, now, (source) => unpolled.some((one) => one === source))
  expect(told).toMatchObject({ status, consecutive_failures: 0, error: error && expect.stringMatching(error) })
})

test('what decides no status stands beside it', () => {
  const own = [report('shure:a', 0), report('shure:b', 0)]
  const told = own.map((one, at) => ({ ...one, overruns: at + 1, warning: at === 0 ? 'device 3: no name' : null }))
  expect(manufacturerHealth({ ...shure, unverified: ['10.0.0.5'] }, told, now)).toMatchObject({
    status: 'healthy',
    overruns: 3,
    details: ['the certificate of 10.0.0.5 is not verified', 'device 3: no name'],
  })
  const health = manufacturerHealth(shure, [report('shure:a', 0, held)], now)
  expect(health.details).toEqual(['it is rate limited'])
  const complaint = { about: 'device 3', problem: 'ip cannot be read' }
  expect([summarize([]), summarize([complaint]), summarize([complaint, complaint])]).toEqual([
    null,
    'device 3: ip cannot be read',
    'device 3: ip cannot be read (and 1 more)',
  ])
})

// Conformance: C-5.27.
test('the service shows the worst manufacturer, or the one that is asked for', () => {
  const well = { ...noSources, code: 'a', status: 'healthy', base_url: 'http://a' } as const
  const ill = {
    ...noSources,
    code: 'b',
    status: 'unhealthy',
    base_url: 'http://b',
    consecutive_failures: 4,
    error: 'x',
  } as const
  const off = { ...noSources, code: 'c', status: 'disabled', base_url: 'http://c' } as const
  const unknown = { ...noSources, code: 'd', status: 'unknown', base_url: 'http://d' } as const
  const slow = { ...noSources, code: 'e', status: 'degraded', base_url: 'http://e' } as const
  expect(serviceHealth([well, ill, off], {})).toMatchObject({
    status: 'degraded',
    vendor_api: { base_url: 'http://b' },
  })
  expect(serviceHealth([well, ill, off], { selected: 'a' }).vendor_api.status).toBe('healthy')
  expect(serviceHealth([well, off], {}).status).toBe('healthy')
  expect(serviceHealth([well, ill], { selected: 'unknown' })).toMatchObject({
    vendor_api: { status: 'unconfigured' },
    manufacturers: [],
  })
  expect(serviceHealth([well, unknown], {})).toMatchObject({ status: 'degraded', vendor_api: { status: 'unknown' } })
  expect(serviceHealth([unknown, slow, well], {}).vendor_api.status).toBe('degraded')
  const full = serviceHealth([well], { details: ['The disk is full.'] })
  expect(full).toMatchObject({ status: 'degraded', details: ['The disk is full.'] })
  expect(serviceHealth([], { selected: 'x' })).toEqual({
    status: 'healthy',
    vendor_api: { status: 'unconfigured', base_url: '', consecutive_failures: 0 },
    manufacturers: [],
    details: [],
    store: { status: 'healthy', details: null },
  })
})

const incident = {
  cause: 'damaged',
  restored_at: Date.UTC(2026, 4, 1),
  snapshot_at: Date.UTC(2026, 3, 30),
  snapshot: 'micwatch-20260430T000000.000Z.db',
} as const
const calm = { isReachable: true, condition: 'ok', incident: null, longestWriteMs: 5000 } as const

// Conformance: C-5.26.
test.each([
  [calm, 'healthy', 'healthy', null],
  [{ ...calm, isReachable: false }, 'unreachable', 'unhealthy', 'out of reach'],
  [{ ...calm, isReachable: false, condition: 'damaged' }, 'damaged', 'degraded', 'restart the service'],
  [{ ...calm, condition: 'unwritable' }, 'not_writable', 'degraded', 'free space'],
  [{ ...calm, longestWriteMs: 5001 }, 'not_writable', 'degraded', 'waiting for more than 5 s'],
  [{ ...calm, incident }, 'restored', 'degraded', 'The snapshot of 2026-04-30T00:00:00.000Z took its place'],
  [{ ...calm, incident: { ...incident, snapshot_at: null } }, 'restored', 'degraded', 'it began empty'],
  [{ ...calm, incident: { ...incident, cause: 'missing' } }, 'restored', 'degraded', 'micwatch restore --none'],
  [{ ...calm, incident: { ...incident, cause: 'log_damaged' } }, 'restored', 'degraded', 'up to the damage is kept'],
  [{ ...calm, condition: 'replaced' }, 'damaged', 'degraded', 'deleted or replaced'],
] as const)('a store %j is %s, and the service %s', (about, status, service, words) => {
  const store = storeHealth(about)
  expect(store).toEqual({ status, details: words === null ? null : expect.stringContaining(words) })
  expect(serviceHealth([], { store })).toMatchObject({
    status: service,
    store,
    details: words === null ? [] : [store.details],
  })
})
