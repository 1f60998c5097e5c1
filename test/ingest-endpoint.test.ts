/** `POST /api/ingest/`: receivers that a script reports. */

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { channelOf, configFor, deviceOf, startApp, startShure, type TestApp, until } from './support/app.ts'
import { tokenHeaders } from './support/tokens.ts'

const rack = {
  api_device_id: 'rack-1',
  name: 'Stage rack',
  device_type: 'mrk',
  model: 'MRK980',
  serial_number: 'W-1',
  channels: [
    {
      channel: 1,
      name: 'Lead',
      frequency: '518.200',
      rf_level: -58,
      details: { quality: 90, muted: false, slots: [{ slot: 2, status: 'inactive', on_air: false, battery: null }] },
      transmitter: { name: 'Lead', battery: 70, details: { model: 'MTP60', battery_minutes: 190 } },
    },
  ],
}

function send(app: TestApp, receivers: readonly object[], headers: Record<string, string> = {}) {
  return app.post('/api/ingest/', { source: 'wisycom script', receivers }, headers)
}

async function findChannel(app: TestApp, name = 'Stage rack') {
  const receiver = (await app.receivers()).find((candidate) => candidate.name === name)
  return receiver && channelOf(receiver)
}

describe('POST /api/ingest/', () => {
  it('raises alerts for the first report of a receiver', async () => {
    const app = await startApp()
    const [channel] = rack.channels
    const empty = { ...channel, transmitter: { name: 'Lead', battery: 4 } }
    await send(app, [{ ...rack, channels: [empty] }])
    const alert = await until('the alert is raised', async () => (await app.get('/api/alerts/')).json[0])
    expect(alert).toMatchObject({ kind: 'battery_critical', state: 'raised' })
  })

  // Conformance: C-16.130, C-16.132.
  it('stores receivers without a configured manufacturer, and changes only what a report contains', async () => {
    const app = await startApp()
    expect(await send(app, [rack])).toMatchObject({ status: 202, json: { accepted: 1, rejected: [] } })
    const receiver = await app.receiver('rack-1')
    expect(receiver).toMatchObject({
      name: 'Stage rack',
      manufacturer: 'ingest',
      device_type: 'mrk',
      model: 'MRK980',
      is_active: true,
      channels: [
        {
          name: 'Lead',
          frequency: '518.200',
          rf_level: -58,
          details: {
            quality: 90,
            muted: false,
            slots: [{ slot: 2, status: 'inactive', on_air: false, battery: null }],
          },
          transmitter: { battery: 70, rf_level: -58, details: { model: 'MTP60', battery_minutes: 190 } },
        },
      ],
    })
    const levels = { channel: 1, rf_level: -64, audio_level: -20, transmitter: { battery: 65 } }
    expect(await send(app, [{ api_device_id: 'rack-1', channels: [levels] }])).toMatchObject({ status: 202 })
    expect(await findChannel(app)).toMatchObject({
      name: 'Lead',
      rf_level: -64,
      audio_level: -20,
      transmitter: { name: 'Lead', battery: 65, details: { battery_minutes: 190 } },
    })
    await send(app, [{ api_device_id: 'rack-1', channels: [{ channel: 1, transmitter: null }] }])
    expect(await findChannel(app)).toMatchObject({ name: 'Lead', transmitter: null })
    const { json: chassis } = await app.get(`/api/chassis/${receiver.id}/`)
    expect(chassis.status).toBe('online')
    expect((await app.get('/api/health/')).json.status).toBe('healthy')
  })

  // Conformance: C-16.130.
  it('accepts a receiver as the service returns it', async () => {
    const app = await startApp()
    await send(app, [rack])
    const before = await app.receiver('rack-1')
    expect(await send(app, [before])).toMatchObject({ status: 202, json: { accepted: 1, rejected: [] } })
    expect(await app.receivers()).toHaveLength(1)
  })

  // Conformance: C-16.131.
  it('rejects single receivers with a reason, and stores the others', async () => {
    const app = await startApp()
    const other = { ...rack, api_device_id: 'rack-2', serial_number: 'W-2', name: 'Other rack' }
    const { status, json } = await send(app, [rack, { ...rack, manufacturer: 'acme' }, rack, other])
    expect({ status, json }).toEqual({
      status: 202,
      json: {
        accepted: 2,
        rejected: [
          { index: 1, error: 'manufacturer: there is no manufacturer acme' },
          { index: 2, error: 'api_device_id: the same device as receivers.0' },
        ],
      },
    })
    expect((await app.receivers()).map(({ name }) => name)).toEqual(['Stage rack', 'Other rack'])
  })

  // Conformance: C-16.131.
  it('returns 400 for unknown fields, wrong types and values out of range, and stores nothing', async () => {
    const app = await startApp()
    const channelWith = (fields: object) => [rack, { ...rack, channels: [{ channel: 1, ...fields }] }]
    const cases: [readonly object[], string][] = [
      [[{ ...rack, colour: 'red' }], 'receivers.0.colour: unknown field'],
      [[{ name: 'no id' }], 'receivers.0.api_device_id: missing'],
      [
        channelWith({ rf_level: '-60' }),
        'receivers.1.channels.0.rf_level: expected a whole number from -200 to 50, or null',
      ],
      [channelWith({ audio_level: 1 }), 'receivers.1.channels.0.audio_level: expected a whole number from -200 to 0'],
      [channelWith({ transmitter: 'Lead' }), 'receivers.1.channels.0.transmitter: expected an object, or null'],
      [channelWith({ transmitter: { foo: 1 } }), 'receivers.1.channels.0.transmitter.foo: unknown field'],
      [
        channelWith({ transmitter: { battery: 101 } }),
        'receivers.1.channels.0.transmitter.battery: expected a whole number from 0 to 100, or null',
      ],
      [
        channelWith({ transmitter: { details: { foo: 1 } } }),
        'receivers.1.channels.0.transmitter.details.foo: unknown field',
      ],
      [channelWith({ frequency: '518.2' }), 'receivers.1.channels.0.frequency: expected text with a frequency'],
      [
        channelWith({ details: { slots: [{ slot: 1, status: 'active', on_air: false, battery: 101 }] } }),
        'receivers.1.channels.0.details.slots.0.battery: expected a whole number from 0 to 100, or null',
      ],
      [[{ ...rack, name: 'a\nb' }], 'receivers.0.name: expected text of 1 to 255 characters'],
    ]
    for (const [receivers, details] of cases) {
      const { status, json } = await send(app, receivers)
      expect({ status, details: json.details }).toEqual({ status: 400, details: expect.stringContaining(details) })
    }
    expect(await app.receivers()).toEqual([])
  })

  // Conformance: C-16.133.
  it('needs the role operator', async () => {
    const app = await startApp({ config: { require_login: true } })
    expect((await send(app, [rack])).status).toBe(401)
    expect((await send(app, [rack], await tokenHeaders(app, 'viewer'))).status).toBe(403)
    expect((await send(app, [rack], await tokenHeaders(app, 'operator'))).status).toBe(202)
  })

  // Conformance: C-16.134.
  it('has a limit of 600 requests a minute instead of the general one', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const app = await startApp({ config: { rate_limit: {} } })
    const { status, headers } = await send(app, [])
    expect({ status, limit: headers['x-ratelimit-limit'] }).toEqual({ status: 202, limit: '600' })
    expect((await app.get('/api/health/')).headers['x-ratelimit-remaining']).toBe('119')
    const invalid = await app.post('/api/ingest/', {})
    expect([invalid.status, (await send(app, [])).headers['x-ratelimit-remaining']]).toEqual([400, '597'])
  })

  // Conformance: C-16.135.
  it('yields to the sources of a monitored receiver, and adds values that they do not report', async () => {
    const shure = await startShure({ receivers: 1 })
    const app = await startApp({ manufacturers: [configFor(shure)] })
    await until('the receiver is listed', async () => (await app.receivers()).length === 1)
    const { id, serial_number } = deviceOf(shure)
    const before = await app.receiver(id)
    const channels = [{ channel: 1, name: 'Wrong', details: { band: 'G50' } }]
    const report = { api_device_id: 'x', manufacturer: 'shure', serial_number, name: 'Wrong', channels }
    expect((await send(app, [report])).json).toEqual({ accepted: 1, rejected: [] })
    const after = await app.receiver(id)
    expect(after).toMatchObject({ id: before.id, name: before.name, api_device_id: before.api_device_id })
    expect(channelOf(after)).toMatchObject({ name: channelOf(before).name, details: { band: 'G50' } })
    expect(await app.receivers()).toHaveLength(1)
  })

  // Conformance: C-16.136.
  it('shows a receiver as offline when the script reports it, or sends nothing for a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const app = await startApp()
    const isActive = async () => (await app.receiver('rack-1')).is_active
    await send(app, [rack])
    expect(await isActive()).toBe(true)
    await send(app, [{ api_device_id: 'rack-1', is_active: false }])
    expect(await isActive()).toBe(false)
    await send(app, [{ api_device_id: 'rack-1' }])
    expect(await isActive()).toBe(true)
    vi.advanceTimersByTime(61_000)
    await until('the receiver is offline', async () => !(await isActive()))
    expect((await findChannel(app))?.condition.state).toBe('receiver_offline')
    await send(app, [rack])
    expect(await isActive()).toBe(true)
  })
})
