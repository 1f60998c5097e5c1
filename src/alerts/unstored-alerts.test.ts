import { expect, test } from 'vitest'
import type { Alert } from '../domain/alerts/alert.ts'
import { UnstoredAlerts } from './unstored-alerts.ts'

function open() {
  const published: Alert[] = []
  const settings = { isEnabled: true, delaySeconds: 0, severity: null }
  const alerts = new UnstoredAlerts(
    { alertSettings: () => settings } as never,
    { isSnoozeOver: () => false } as never,
    { info: () => {} } as never,
  )
  alerts.changed.subscribe(({ alert }) => published.push(alert))
  return { alerts, published, settings }
}

// Conformance: C-11.12.
test('announces a database that cannot be written for 10 s, and its end', () => {
  const { alerts, published } = open()
  alerts.update('unwritable', 1000)
  alerts.update('unwritable', 10_999)
  expect(published).toEqual([])
  alerts.update('unwritable', 11_000)
  alerts.update('unwritable', 12_000)
  expect(published).toMatchObject([
    { id: 0, kind: 'storage_failing', severity: 'critical', state: 'raised', manufacturer: null },
  ])
  expect(alerts.list()).toEqual(published)
  alerts.update('ok', 13_000)
  expect(published.slice(1)).toMatchObject([{ id: 0, state: 'cleared', message: 'Changes are stored again' }])
  expect(alerts.list()).toEqual([])
})

test('does not add up interruptions', () => {
  const { alerts, published } = open()
  alerts.update('unwritable', 0)
  alerts.update('ok', 9000)
  alerts.update('unwritable', 10_000)
  alerts.update('unwritable', 19_000)
  expect(published).toEqual([])
})

test('announces a damaged database at once', () => {
  const { alerts, published } = open()
  alerts.update('damaged', 0)
  expect(published).toMatchObject([{ message: expect.stringContaining('The database is damaged') }])
})

test('announces nothing while the kind is disabled, and the end when it is disabled', () => {
  const { alerts, published, settings } = open()
  settings.isEnabled = false
  alerts.update('damaged', 0)
  expect(published).toEqual([])
  settings.isEnabled = true
  alerts.update('damaged', 1)
  settings.isEnabled = false
  alerts.update('damaged', 2)
  expect(published.map(({ state }) => state)).toEqual(['raised', 'cleared'])
})
