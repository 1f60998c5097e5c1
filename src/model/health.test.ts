import { expect, test } from 'vitest'
import { manufacturerHealth, type SourceReport, serviceHealth } from './health.ts'

const now = 1000
const shure = { code: 'shure', base_url: 'http://a', isEnabled: true, sources: ['shure:a', 'shure:b'] }

function report(source: string, failures: number, hold_until = 0): SourceReport {
  const error = failures > 0 ? 'connection refused' : null
  return { manufacturer: 'shure', source, consecutive_failures: failures, error, hold_until, last_success_at: null }
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

test('the service shows the worst manufacturer, or the one that is asked for', () => {
  const well = { code: 'a', status: 'healthy', base_url: 'http://a', consecutive_failures: 0, error: null } as const
  const ill = { code: 'b', status: 'unhealthy', base_url: 'http://b', consecutive_failures: 4, error: 'x' } as const
  const off = { code: 'c', status: 'disabled', base_url: 'http://c', consecutive_failures: 0, error: null } as const
  expect(serviceHealth([well, ill, off], {})).toMatchObject({
    status: 'degraded',
    vendor_api: { base_url: 'http://b' },
  })
  expect(serviceHealth([well, ill, off], { selected: 'a' }).vendor_api.status).toBe('healthy')
  expect(serviceHealth([well, off], {}).status).toBe('healthy')
  expect(serviceHealth([well], { storeDown: true }).status).toBe('unhealthy')
  expect(serviceHealth([], { selected: 'x' })).toEqual({
    status: 'healthy',
    vendor_api: { status: 'unconfigured', base_url: '', consecutive_failures: 0 },
    manufacturers: [],
  })
})
