/** Receivers whose lights flash at a user's request. */

import { describe, expect, it } from 'vitest'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import { systemIdOf } from '../simulators/shure/system-api.ts'
import { startApp, startSystemApi, type TestAppOptions, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

async function startFor(manufacturer: NonNullable<TestAppOptions['manufacturers']>[number], { isOn = true } = {}) {
  const app = await startApp({ manufacturers: [manufacturer], config: { require_login: true } })
  const admin = await tokenHeaders(app, 'admin')
  const allow = async (key: string) =>
    expect((await app.post('/api/config/', { key, value: 'true' }, admin)).status).toBe(200)
  if (isOn) await allow('IDENTIFY')
  const [{ id }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const operator = await tokenHeaders(app, 'operator')
  const identify = (body: object) => app.post(`/api/receivers/${id}/identify/`, body, operator)
  return { app, id, identify, admin, allow }
}

async function startUlxd(options: { isOn?: boolean } = {}, family: 'ulxd' | 'qlxd' | 'slxd' | 'mxwnext' = 'ulxd') {
  const simulator = await startStringsSimulator({ family })
  onTestEnd(() => simulator.close())
  const started = await startFor({ code: 'shure', config: { devices: [simulator.url] } }, options)
  return { simulator, ...started }
}

describe.concurrent('POST /api/receivers/{id}/identify/', () => {
  // Conformance: C-16.137.
  it('makes a channel and a receiver with command strings flash for some seconds, and writes it to the audit log', async () => {
    const { simulator, app, id, identify, admin } = await startUlxd()
    expect((await app.get(`/api/receivers/${id}/`, admin)).json.can_identify).toBe(true)
    const response = await identify({ channel: 2, seconds: 30 })
    expect(response).toMatchObject({ status: 200, json: { channel: 2, seconds: 30 } })
    expect([...simulator.flashing]).toEqual([2])
    expect(await identify({})).toMatchObject({ status: 200, json: { channel: null, seconds: 10 } })
    expect(simulator.flashing.has(null)).toBe(true)
    await identify({ channel: 2, seconds: 1 })
    await until('the channel has stopped', () => !simulator.flashing.has(2))
    expect((await app.get('/api/admin/audit/?action=receiver.', admin)).json).toMatchObject([
      { action: 'receiver.identify', target: `receiver ${id}, channel 2`, result: 'ok' },
      { action: 'receiver.identify', target: `receiver ${id}`, result: 'ok' },
      { action: 'receiver.identify', target: `receiver ${id}, channel 2`, result: 'ok' },
    ])
    await app.close()
    await until('the receiver has stopped', () => simulator.flashing.size === 0)
  })

  it.each(['slxd', 'mxwnext'] as const)('makes the whole %s receiver flash, not a single channel', async (family) => {
    const { simulator, identify } = await startUlxd({}, family)
    expect((await identify({ channel: 1 })).json).toEqual({ channel: null, seconds: 10 })
    expect([...simulator.flashing]).toEqual([null])
  })

  it('makes a receiver of a System API server flash', async () => {
    const simulator = await startSystemApi({ receivers: 1 })
    const { identify } = await startFor({ code: 'shure', config: simulator.config })
    expect((await identify({ channel: 1 })).json).toEqual({ channel: null, seconds: 10 })
    const [state] = simulator.show.devicesAt(0, 'shure')
    expect([...simulator.identifying]).toEqual([systemIdOf(state?.device as never)])
  })

  it('makes an EW-DX and its channels flash', async () => {
    const simulator = await startSsc1Simulator()
    onTestEnd(() => simulator.close())
    const { identify } = await startFor({ code: 'sennheiser', config: { devices: [simulator.url] } })
    expect((await identify({ channel: 2, seconds: 30 })).json).toEqual({ channel: 2, seconds: 30 })
    expect(simulator.value('/rx2/identification/visual')).toBe(true)
    await identify({ channel: 2, seconds: 1 })
    await until('the channel has stopped', () => simulator.value('/rx2/identification/visual') === false)
    expect((await identify({})).json).toEqual({ channel: null, seconds: 10 })
    expect(simulator.value('/device/identification/visual')).toBe(true)
  })

  it.each([
    ['SLDW4CH', { channel: 2 }, 2, '/rx2/identification/visual', true],
    ['SLDW', { channel: 1 }, null, '/rx1/identify', true],
    ['CHG4N', {}, null, '/bays/identify', [true, true, true, true]],
    ['CHG2N', {}, null, '/bays/identify', [true, true]],
  ] as const)('makes a SpeechLine %s flash for %j', async (model, request, channel, address, value) => {
    const simulator = await startSsc1Simulator({ model })
    onTestEnd(() => simulator.close())
    const { identify } = await startFor({ code: 'sennheiser', config: { devices: [simulator.url] } })
    expect((await identify(request)).json).toEqual({ channel, seconds: 10 })
    expect(simulator.value(address)).toEqual(value)
  })

  // Conformance: C-16.138.
  it('is off by default, and during shows unless that is permitted', async () => {
    const { simulator, app, identify, admin, allow } = await startUlxd({ isOn: false })
    expect(await identify({})).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('IDENTIFY is off') },
    })
    await allow('IDENTIFY')
    const show = await app.post('/api/shows/', { title: 'Matinee' }, admin)
    await app.post(`/api/shows/${show.json.id}/start`, undefined, admin)
    expect(await identify({})).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('show is running') },
    })
    expect(simulator.flashing.size).toBe(0)
    await allow('IDENTIFY_DURING_SHOWS')
    expect((await identify({})).status).toBe(200)
  })

  it('needs the role operator, a channel of the receiver and at most 30 seconds', async () => {
    const { app, id, identify } = await startUlxd()
    const viewer = await tokenHeaders(app, 'viewer')
    expect((await app.post(`/api/receivers/${id}/identify/`, {}, viewer)).status).toBe(403)
    expect((await identify({ channel: 9 })).json.details).toBe('channel: Rack A U has no channel 9')
    expect((await identify({ seconds: 31 })).status).toBe(400)
    const operator = await tokenHeaders(app, 'operator')
    expect((await app.post('/api/receivers/99/identify/', {}, operator)).status).toBe(404)
  })

  it('reports receivers without such lights and receivers that do not respond', async () => {
    const qlxd = await startUlxd({}, 'qlxd')
    expect((await qlxd.app.get(`/api/receivers/${qlxd.id}/`, qlxd.admin)).json.can_identify).toBe(false)
    expect((await qlxd.identify({})).status).toBe(409)
    const { simulator, identify } = await startUlxd()
    simulator.setFault('silent')
    expect(await identify({})).toMatchObject({ status: 503, json: { error: 'Rack A U does not respond.' } })
  })
})
