/** A service that follows a hostile site, with open pages. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { alertKinds } from '../../src/contract/alert-kinds.ts'
import { followedMessages } from '../../src/contract/followed-messages.ts'
import { startApp, until } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { followedExamples, mutationsOf } from '../support/hostile-messages.ts'
import { startHostileSite } from '../support/hostile-site.ts'
import { openLive } from '../support/live-client.ts'
import { follow } from '../support/sites.ts'
import { tokenHeaders } from '../support/tokens.ts'

const { open } = browserForTests()

const responses = [
  ...['/api/data.json', '/api/receivers/', '/api/channels/', '/api/alerts/', '/api/summary/', '/api/sites/'],
  ...['/metrics?channels=1', '/api/events/', '/api/events.csv', '/api/assignments/?names=true', '/api/crew-sheet/'],
  ...['/api/crew-sheet.csv', '/api/frequencies/?site=evil', '/api/frequencies/export.csv?site=evil', '/data.json'],
  ...['/api/chassis/?site=evil', '/api/health/', '/api/admin/receivers/', '/api/summary/?site=evil'],
]

const { data } = followedExamples.snapshot as { data: { receivers: object[]; alerts: object[] } }
const noValues = {
  ...{ name: null, slot: null, battery: null, minutes_left: null, threshold: null, receiver: null },
  ...{ fault: 'from_the_future', conflict: 'unknown', ends_at: 'never', crossed: 'x', failures: {}, generators: 'x' },
}
const condition = { state: 'from_the_future', severity: 'ok', attention: false, since: 'never', flags: [] }
const raised = { ...data.alerts[0], acknowledged_at: null, snoozed_at: null, snoozed_until: null }
/** Contains as few values as can be shown, alerts of every kind without values, and values that only newer versions know. */
const poor = {
  ...data,
  receivers: [
    ...data.receivers,
    {
      ...{
        id: 3,
        name: {},
        device_type: [],
        model: null,
        ip: null,
        is_active: true,
        manufacturer: 'comet',
        site: null,
      },
      channels: [{ id: 31, channel: 1, slot: 9, name: {}, frequency: 1, transmitter: {}, condition, details: [] }],
    },
  ],
  alerts: alertKinds.flatMap((kind, index) => [
    { ...raised, id: 100 + index, kind, data: {}, first: null, manufacturer: null },
    { ...raised, id: 200 + index, kind, data: noValues, receiver_id: 3, channel_id: 31 },
  ]),
  shows: [
    { id: 1, title: { toString: 1 } },
    { id: 2, title: '' },
  ],
}

// Conformance: C-18.47.
it('keeps running and shows other data, whatever a site sends', async () => {
  const first = JSON.stringify({ type: 'snapshot', ...followedExamples.snapshot })
  const site = await startHostileSite(first)
  const app = await startApp({ manufacturers: [follow(site.url, 'evil', 'Evil')] })
  await until('the site is followed', async () => (await app.receivers()).length === 1)
  const pages = await Promise.all(['/', '/alerts?site=evil'].map((path) => open(app, path)))
  await pages[0]?.locator('.card').first().waitFor()

  const types = followedMessages.map((schema) => schema.properties.type.const)
  site.send(types.flatMap((type) => fc.sample(mutationsOf(type), 200)))
  site.send([JSON.stringify({ type: 'snapshot', ...followedExamples.snapshot, seq: 9999, data: poor })])
  const receivers = await until('the last message is shown', async () => {
    // A mutation may have added a second receiver before.
    const all = await app.receivers()
    return all.length === 2 && all.some(({ manufacturer }) => manufacturer === 'comet') && all
  })
  expect(site.connections()).toBe(1)
  const receiver = receivers.find(({ manufacturer }) => manufacturer !== 'comet')
  const poorReceiver = receivers.find(({ manufacturer }) => manufacturer === 'comet')
  expect(poorReceiver).toMatchObject({ name: '', manufacturer: 'comet', channels: [{ name: null }] })
  const headers = await tokenHeaders(app, 'admin')
  for (const path of [...responses, `/api/receivers/${receiver?.id}/`, `/api/receivers/${poorReceiver?.id}/`]) {
    expect({ path, ...(await app.get(path, headers)) }).toMatchObject({ path, status: 200 })
  }
  const live = await openLive(app)
  expect(live.data().alerts).toHaveLength(2 * alertKinds.length)
  const { json: health } = await app.get('/api/health/')
  expect(health.manufacturers).toMatchObject([{ details: [expect.stringContaining('left out')] }])

  const [page] = pages
  await eventually(() => page?.locator('.card').count()).toBe(3)
  const parts = [
    ...[['/', '.card'] as const, ['/wall', '.wall .card'] as const, ['/alerts', '.alert'] as const],
    ...[['/sites', '.site-tile'] as const, ['/timeline', '.timeline-columns'] as const],
    [`/channels/${poorReceiver?.channels[0]?.id}`, '.detail-head'] as const,
    [`/receivers/${poorReceiver?.id}`, '.detail-head'] as const,
  ]
  for (const [path, part] of parts) {
    await page?.goto(app.url + path)
    await page?.locator(part).first().waitFor()
  }
})
