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
const shure = {
  code: 'shure',
  name: 'Shure',
  base_url: 'http://a',
  isEnabled: true,
  sources: ['shure:a', 'shure:b'],
  unverified: [],
}

function record(source: string, failures: number, more: Partial<SourceRecord> = {}): SourceRecord {
  const error = failures > 0 ? 'connection refused' : null
  const rest = {
    last_success_at: now - 1000,
    overruns: 0,
    warning: null,
    device_errors: noDeviceErrors,
    silent_since: null,
  }
  return { manufacturer: 'shure', source, consecutive_failures: failures, error, hold_until: 0, ...rest, ...more }
}

const neverSucceeded = { last_success_at: null }
const paused = { hold_until: now + 1, error: 'it is rate limited' }

// Conformance: C-5.28, C-5.31.
// Reliability: 2.1.4.
test.each([
  ['no record yet', [], 'unknown', 0],
  ['all healthy', [record('shure:a', 0), record('shure:b', 0)], 'healthy', 0],
  ['one of two fails', [record('shure:a', 5), record('shure:b', 0)], 'degraded', 0],
  ['one of two never succeeded', [record('shure:a', 0), record('shure:b', 0, neverSucceeded)], 'unknown', 0],
  ['one of two fails, the other has no record', [record('shure:a', 3)], 'degraded', 3],
  ['one failure', [record('shure:a', 1), record('shure:b', 0)], 'degraded', 0],
  ['two failures', [record('shure:a', 2), record('shure:b', 2)], 'degraded', 2],
  ['three failures', [record('shure:a', 4), record('shure:b', 3)], 'unhealthy', 3],
  ['paused', [record('shure:a', 0, paused), record('shure:b', 0)], 'healthy', 0],
  ['paused before any success', [record('shure:a', 0, { ...paused, ...neverSucceeded })], 'unknown', 0],
  ['paused after a failure', [record('shure:a', 1, paused), record('shure:b', 0)], 'degraded', 0],
  ['paused after three failures', [record('shure:a', 3, paused), record('shure:b', 3)], 'unhealthy', 3],
  ['a source that is no longer configured', [record('shure:old', 9)], 'unknown', 0],
] as const)('manufacturerHealth with %s', (_name, records, status, failures) => {
  expect(manufacturerHealth(shure, records, now)).toMatchObject({ status, consecutive_failures: failures })
})

test.each([
  ['a moment ago', now - 1, 'healthy'],
  ['almost a day ago', now - dayMs + 1, 'healthy'],
  ['a day ago', now - dayMs, 'unknown'],
  ['in a minute, on a clock that was set back since', now + 60_000, 'healthy'],
  ['next year, on a clock that was set back since', now + 365 * dayMs, 'unknown'],
  ['never', null, 'unknown'],
] as const)('manufacturerHealth when the last success was %s', (_name, last_success_at, status) => {
  const manufacturer = { ...shure, sources: ['shure:a'] }
  expect(manufacturerHealth(manufacturer, [record('shure:a', 0, { last_success_at })], now).status).toBe(status)
})

test('manufacturerHealth is unconfigured without sources', () => {
  const health = manufacturerHealth({ ...shure, sources: [] }, [], now)
  expect(health).toEqual({ ...noSources, code: 'shure', name: 'Shure', base_url: 'http://a', status: 'unconfigured' })
  expect(serviceHealth([health], {}).status).toBe('healthy')
})

// Conformance: C-5.58.
test('manufacturerHealth lists every failing source and device with its error', () => {
  const sources = ['shure:a', 'shure:b', 'shure:c', 'shure:d', 'shure:e']
  const broken = (id: number) => ({ device: `d${id}`, error: 'ip cannot be read' })
  const reports = [
    record('shure:a', 3, { error: 'connection refused by a' }),
    record('shure:b', 1, { error: 'no response from b' }),
    record('shure:c', 0, { ...paused, ...neverSucceeded, error: 'c is rate limited' }),
    record('shure:d', 0, { ...paused, device_errors: { listed: [broken(1), broken(2)], more: 7 } }),
  ]
  expect(manufacturerHealth({ ...shure, sources }, reports, now, (source) => source === 'shure:e')).toMatchObject({
    status: 'degraded',
    error: 'connection refused by a',
    sources: [
      { source: 'a', status: 'unhealthy', consecutive_failures: 3, error: 'connection refused by a' },
      { source: 'b', status: 'degraded', consecutive_failures: 1, error: 'no response from b' },
      { source: 'c', status: 'unknown', consecutive_failures: 0, error: 'c is rate limited' },
      { source: 'd', status: 'healthy', consecutive_failures: 0, error: null },
      { source: 'e', status: 'unhealthy', consecutive_failures: 0, error: expect.stringMatching(/^no process/) },
    ],
    details: ['c is rate limited', 'it is rate limited'],
    device_errors: [broken(1), broken(2)],
    more: 7,
  })
})

// Conformance: C-5.58.
test('manufacturerHealth lists at most 100 failing devices and counts the others', () => {
  const problem = 'ip cannot be read'
  const listProblem: DeviceProblem = { subject: 'the list', problem: 'it is empty' }
  const deviceProblem = (id: number): DeviceProblem => ({ subject: `device ${id}`, problem, device: String(id) })
  const problems = [listProblem, ...Array.from({ length: 80 }, (_, id) => deviceProblem(id))]
  const device_errors = toDeviceErrors(problems)
  expect([device_errors.listed.length, device_errors.more]).toEqual([80, 0])
  expect(device_errors.listed[0]).toEqual({ device: '0', error: problem })
  const reports = [record('shure:a', 0, { device_errors }), record('shure:b', 0, { device_errors })]
  const health = manufacturerHealth(shure, reports, now)
  expect([health.status, health.device_errors.length, health.more]).toEqual(['healthy', 100, 60])
  expect(toDeviceErrors([...problems, ...problems])).toMatchObject({ more: 60 })
})

test.each([
  ['all of them', ['shure:a', 'shure:b'], 'unhealthy', /^no process polls it/],
  ['one of them', ['shure:a'], 'degraded', /^no process polls it/],
  ['none of them', [], 'healthy', null],
] as const)('manufacturerHealth reports orphaned sources as unhealthy: %s', (_name, orphaned, status, error) => {
  const records = [record('shure:a', 0), record('shure:b', 0)]
  const health = manufacturerHealth(shure, records, now, (source) => orphaned.some((other) => other === source))
  expect(health).toMatchObject({ status, consecutive_failures: 0, error: error && expect.stringMatching(error) })
})

test('manufacturerHealth lists problems that do not affect the status', () => {
  const records = [record('shure:a', 0), record('shure:b', 0)]
  const withProblems = records.map((record, index) => ({
    ...record,
    overruns: index + 1,
    warning: index === 0 ? 'device 3: no name' : null,
  }))
  expect(manufacturerHealth({ ...shure, unverified: ['10.0.0.5'] }, withProblems, now)).toMatchObject({
    status: 'healthy',
    overruns: 3,
    details: ['the certificate of 10.0.0.5 is not verified', 'device 3: no name'],
  })
  const health = manufacturerHealth(shure, [record('shure:a', 0, paused)], now)
  expect(health.details).toEqual(['it is rate limited'])
  const problem = { subject: 'device 3', problem: 'ip cannot be read' }
  expect([summarize([]), summarize([problem]), summarize([problem, problem])]).toEqual([
    null,
    'device 3: ip cannot be read',
    'device 3: ip cannot be read (and 1 more)',
  ])
})

// Conformance: C-5.27.
test('serviceHealth shows the worst manufacturer, or the selected one', () => {
  const healthy = { ...noSources, code: 'a', name: 'A', status: 'healthy', base_url: 'http://a' } as const
  const unhealthy = {
    ...noSources,
    code: 'b',
    name: 'B',
    status: 'unhealthy',
    base_url: 'http://b',
    consecutive_failures: 4,
    error: 'x',
  } as const
  const disabled = { ...noSources, code: 'c', name: 'C', status: 'disabled', base_url: 'http://c' } as const
  const unknown = { ...noSources, code: 'd', name: 'D', status: 'unknown', base_url: 'http://d' } as const
  const degraded = { ...noSources, code: 'e', name: 'E', status: 'degraded', base_url: 'http://e' } as const
  expect(serviceHealth([healthy, unhealthy, disabled], {})).toMatchObject({
    status: 'degraded',
    vendor_api: { base_url: 'http://b' },
  })
  expect(serviceHealth([healthy, unhealthy, disabled], { selected: 'a' }).vendor_api.status).toBe('healthy')
  expect(serviceHealth([healthy, disabled], {}).status).toBe('healthy')
  expect(serviceHealth([healthy, unhealthy], { selected: 'unknown' })).toMatchObject({
    vendor_api: { status: 'unconfigured' },
    manufacturers: [],
  })
  expect(serviceHealth([healthy, unknown], {})).toMatchObject({ status: 'degraded', vendor_api: { status: 'unknown' } })
  expect(serviceHealth([unknown, degraded, healthy], {}).vendor_api.status).toBe('degraded')
  const diskFull = serviceHealth([healthy], { details: ['The disk is full.'] })
  expect(diskFull).toMatchObject({ status: 'degraded', details: ['The disk is full.'] })
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
const normal = { isReachable: true, condition: 'ok', incident: null, longestWriteMs: 5000 } as const

// Conformance: C-5.26.
// Reliability: S12.
test.each([
  [normal, 'healthy', 'healthy', null],
  [{ ...normal, isReachable: false }, 'unreachable', 'unhealthy', 'is unreachable'],
  [{ ...normal, isReachable: false, condition: 'damaged' }, 'damaged', 'degraded', 'Restart the service'],
  [{ ...normal, condition: 'unwritable' }, 'not_writable', 'degraded', 'free space'],
  [{ ...normal, longestWriteMs: 5001 }, 'not_writable', 'degraded', 'waiting for more than 5 s'],
  [{ ...normal, incident }, 'restored', 'degraded', 'replaced by the snapshot of 2026-04-30T00:00:00.000Z'],
  [{ ...normal, incident: { ...incident, snapshot_at: null } }, 'restored', 'degraded', 'the new database is empty'],
  [{ ...normal, incident: { ...incident, cause: 'missing' } }, 'restored', 'degraded', 'micwatch restore --none'],
  [
    { ...normal, incident: { ...incident, cause: 'log_damaged' } },
    'restored',
    'degraded',
    'before the damage was kept',
  ],
  [{ ...normal, condition: 'replaced' }, 'damaged', 'degraded', 'deleted or replaced'],
] as const)('storeHealth of %j is %s, and the service is %s', (state, status, service, text) => {
  const store = storeHealth(state)
  expect(store).toEqual({ status, details: text === null ? null : expect.stringContaining(text) })
  expect(serviceHealth([], { store })).toMatchObject({
    status: service,
    store,
    details: text === null ? [] : [store.details],
  })
})
