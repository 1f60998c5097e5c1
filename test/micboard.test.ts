/** The interface for programs written for micboard: `GET /data.json`, and the ping of the WebSocket. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './support/app.ts'
import { eventually } from './support/eventually.ts'

// Conformance: C-16.70, C-16.72.
it('GET /data.json describes all receivers, below the mount prefix, with an ETag', async () => {
  const simulator = withoutPush(await startShure({ receivers: 2 }))
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { battery: 9, rf_level: -60, audio_level: -30, name: 'Nora' }, 1)
  const app = await startApp({ manufacturers: [configFor(simulator)], config: { server: { mount: '/mics' } } })
  await until('the devices are known', async () => (await app.receivers()).length === 2)
  const read = async () => (await app.get('/data.json')).json.receivers[0].tx[0]
  await eventually(read).toMatchObject({
    channel: 1,
    name: 'Nora',
    status: 'CRITICAL',
    battery: 1,
    rf_level: 50,
    audio_level: 50,
  })
  const { json, headers } = await app.get('/data.json')
  expect(json.receivers).toHaveLength(2)
  expect(json.receivers[0]).toMatchObject({ ip: deviceOf(simulator).ip, status: 'CONNECTED' })
  expect((await app.get('/data.json', { 'if-none-match': headers.etag as string })).status).toBe(304)
  const atRoot = await fetch(new URL('/data.json', app.url))
  expect(atRoot.status).toBe(404)
  simulator.show.set(id, { battery: 90 }, 1)
  await eventually(async () => (await read()).battery).toBe(5)
})

// Conformance: C-16.70.
it('GET /data.json has the name of the performer, and below name_raw that of the transmitter', async () => {
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 1 }))
  simulator.show.set(deviceOf(simulator).id, { name: 'H01' }, 1)
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const [unit] = await until('the unit is known', async () => {
    const { json } = await app.get('/api/units/')
    return json.length === 1 && json
  })
  const names = async () => {
    const { name, name_raw } = (await app.get('/data.json')).json.receivers[0].tx[0]
    return [name, name_raw]
  }
  await eventually(names).toEqual(['H01', 'H01'])
  const performer = (await app.post('/api/performers/', { name: 'Nora' })).json.id
  const assignment = (await app.post('/api/assignments/', { performer, wireless_unit: unit.id })).json
  await eventually(names).toEqual(['Nora', 'H01'])
  await app.send('DELETE', `/api/assignments/${assignment.id}/`)
  await eventually(names).toEqual(['H01', 'H01'])
})

// Conformance: C-16.72.
it('GET /data.json requires the same role as other reads', async () => {
  const app = await startApp({ config: { require_login: true } })
  expect((await app.get('/data.json')).status).toBe(401)
})

// Conformance: C-16.73.
it.each(['/ws', '/ws?protocol=2'])('answers {"command":"ping"} on %s', async (path) => {
  const app = await startApp()
  const socket = await app.socket(path)
  socket.send({ command: 'ping', id: 4 })
  const pong = await socket.next(({ type }) => type === 'pong')
  expect(pong).toMatchObject({ id: 4, timestamp: expect.stringMatching(/Z$/) })
  socket.send({ command: 'refresh' })
  await socket.next(({ type }) => type === 'error')
})

// Conformance: C-16.74.
it('GET /api/health/ready/ is /readyz', async () => {
  const app = await startApp()
  expect(await app.get('/api/health/ready/')).toMatchObject({ status: 200, json: { status: 'ok' } })
  app.drain()
  expect(await app.get('/api/health/ready/')).toMatchObject({ status: 503, json: { status: 'unavailable' } })
  expect((await app.get('/readyz')).status).toBe(503)
})
