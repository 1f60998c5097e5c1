import { expect, test } from 'vitest'
import { manufacturerHealth, type SourceReport, serviceHealth, storeHealth, summarize } from './health.ts'

const now = 1000
const shure = { code: 'shure', base_url: 'http://a', isEnabled: true, sources: ['shure:a', 'shure:b'], unverified: [] }

function report(source: string, failures: number, hold_until = 0): SourceReport {
  const error = failures > 0 ? 'connection refused' : null
  const rest = { last_success_at: null, overruns: 0, warning: null }
  return { manufacturer: 'shure', source, consecutive_failures: failures, error, hold_until, ...rest }
}

test.each([
  ['no report yet', [], 'healthy', 0],
  ['all well', [report('shure:a', 0), report('shure:b', 0)], 'healthy', 0],
  ['one of two fails', [report('shure:a', 5), report('shure:b', 0)], 'degraded', 0],
  ['one failure', [report('shure:a', 1)], 'degraded', 1],
  ['two failures', [report('shure:a', 2)], 'degraded', 2],
  ['three failures', [report('shure:a', 3)], 'unhealthy', 3],
  ['asked to wait', [report('shure:a', 0, now + 1)], 'degraded', 0],
  ['a source that is configured no more', [report('shure:old', 9)], 'healthy', 0],
] as const)('%s', (_name, reports, status, failures) => {
  expect(manufacturerHealth(shure, reports, now)).toMatchObject({ status, consecutive_failures: failures })
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
  const held = { ...report('shure:a', 0, now + 1), error: 'it is rate limited' }
  expect(manufacturerHealth(shure, [held], now).details).toEqual(['it is rate limited'])
  const complaint = { about: 'device 3', problem: 'ip cannot be read' }
  expect([summarize([]), summarize([complaint]), summarize([complaint, complaint])]).toEqual([
    null,
    'device 3: ip cannot be read',
    'device 3: ip cannot be read (and 1 more)',
  ])
})

test('the service shows the worst manufacturer, or the one that is asked for', () => {
  const rest = { consecutive_failures: 0, error: null, overruns: 0, details: [] }
  const well = { code: 'a', status: 'healthy', base_url: 'http://a', ...rest } as const
  const ill = {
    ...rest,
    code: 'b',
    status: 'unhealthy',
    base_url: 'http://b',
    consecutive_failures: 4,
    error: 'x',
  } as const
  const off = { code: 'c', status: 'disabled', base_url: 'http://c', ...rest } as const
  expect(serviceHealth([well, ill, off], {})).toMatchObject({
    status: 'degraded',
    vendor_api: { base_url: 'http://b' },
  })
  expect(serviceHealth([well, ill, off], { selected: 'a' }).vendor_api.status).toBe('healthy')
  expect(serviceHealth([well, off], {}).status).toBe('healthy')
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
const calm = { isReachable: true, condition: 'well', incident: null } as const

test.each([
  [calm, 'healthy', 'healthy', null],
  [{ ...calm, isReachable: false }, 'unreachable', 'unhealthy', 'out of reach'],
  [{ ...calm, isReachable: false, condition: 'damaged' }, 'damaged', 'degraded', 'restart the service'],
  [{ ...calm, condition: 'unwritable' }, 'not_writable', 'degraded', 'free space'],
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
