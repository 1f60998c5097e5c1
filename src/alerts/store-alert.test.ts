import { expect, test } from 'vitest'
import type { Alert } from '../domain/alerts/alert.ts'
import { StoreAlert } from './store-alert.ts'
import { UnstoredAlert } from './unstored-alert.ts'

function createStoreAlert(isEnabled = true) {
  const published: Alert[] = []
  const settings = { isEnabled, delaySeconds: 0, severity: null }
  const unstored = new UnstoredAlert({ id: 0, publish: (changed) => published.push(changed), now: () => 5 })
  const alert = new StoreAlert({ settings: () => settings, alert: unstored })
  return { alert, unstored, published, settings }
}

// Conformance: C-11.12.
test('announces a database that cannot be written for 10 s, and its end', () => {
  const { alert, unstored, published } = createStoreAlert()
  alert.update('unwritable', 1000)
  alert.update('unwritable', 10_999)
  expect(published).toEqual([])
  alert.update('unwritable', 11_000)
  alert.update('unwritable', 12_000)
  expect(published).toMatchObject([
    { id: 0, kind: 'storage_failing', severity: 'critical', state: 'raised', manufacturer: null },
  ])
  expect(unstored.list()).toEqual(published)
  alert.update('ok', 13_000)
  expect(published.slice(1)).toMatchObject([{ id: 0, state: 'cleared', message: 'Changes are stored again' }])
  expect(unstored.list()).toEqual([])
})

test('does not add up interruptions', () => {
  const { alert, published } = createStoreAlert()
  alert.update('unwritable', 0)
  alert.update('ok', 9000)
  alert.update('unwritable', 10_000)
  alert.update('unwritable', 19_000)
  expect(published).toEqual([])
})

test('announces a damaged database at once', () => {
  const { alert, published } = createStoreAlert()
  alert.update('damaged', 0)
  expect(published).toMatchObject([{ message: expect.stringContaining('The database is damaged') }])
})

test('announces nothing while the kind is disabled, and the end when it is disabled', () => {
  const { alert, published, settings } = createStoreAlert()
  settings.isEnabled = false
  alert.update('damaged', 0)
  expect(published).toEqual([])
  settings.isEnabled = true
  alert.update('damaged', 1)
  settings.isEnabled = false
  alert.update('damaged', 2)
  expect(published.map(({ state }) => state)).toEqual(['raised', 'cleared'])
})
