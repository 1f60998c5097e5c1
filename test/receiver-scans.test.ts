/** Scans of the spectrum by a Digital 6000 receiver. */

import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { type Ssc1SimulatorOptions, startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startApp, type TestAppOptions, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

const allowed = { control: ['scan'], control_unconfirmed: true }
const range = { from_mhz: 500, to_mhz: 510, step_khz: 25, confirm: true }
const tv = (khz: number) => (khz >= 502_000 && khz < 506_000 ? -60 : -110)

async function startEm6000(options: Ssc1SimulatorOptions = {}) {
  const simulator = await startSsc1Simulator({ model: 'EM6000', spectrum: tv, scanStepMs: 0.2, ...options })
  onTestEnd(() => simulator.close())
  for (const channel of [1, 2]) simulator.setLinked(channel, false)
  return simulator
}

type Simulator = Awaited<ReturnType<typeof startEm6000>>

async function startFor(simulator: Simulator, config: object = allowed, options: TestAppOptions = {}) {
  const manufacturers = [{ code: 'sennheiser', config: { devices: [simulator.url], poll_interval: 1 } }]
  const app = await startApp({ manufacturers, config, ...options })
  const admin = await tokenHeaders(app, 'admin')
  const id = await until('the receiver is known', async () => {
    const [known] = (await app.get('/api/receivers/', admin)).json
    const sources = known && (await app.get(`/api/receivers/${known.id}/`, admin)).json.sources
    return sources?.length > 0 && (known.id as number)
  })
  const markSpare = () =>
    app.send('PATCH', `/api/admin/receivers/${id}/`, {
      body: JSON.stringify({ spare: true }),
      headers: { ...admin, 'content-type': 'application/json' },
    })
  const scan = (change: object = {}, headers = admin) =>
    app.post(`/api/receivers/${id}/scan/`, { ...range, ...change }, headers)
  const stop = () => app.send('DELETE', `/api/receivers/${id}/scan/`, { headers: admin })
  const receiver = async () => (await app.get(`/api/receivers/${id}/`, admin)).json
  const sweeps = async () => (await app.get(`/api/sweeps/receiver:${id}/`, admin)).json
  return { app, id, admin, markSpare, scan, stop, receiver, sweeps }
}

async function startSpare(options: Ssc1SimulatorOptions = {}, config: object = allowed) {
  const simulator = await startEm6000(options)
  const started = await startFor(simulator, config)
  expect((await started.markSpare()).json).toMatchObject({ spare: true })
  return { simulator, ...started }
}

const carriers = (simulator: Simulator) => [simulator.value('/rx1/carrier'), simulator.value('/rx2/carrier')]

describe.concurrent('POST /api/receivers/{id}/scan/', () => {
  // Conformance: C-23.141, C-23.142.
  it('makes a spare scan, whose sweeps are a live source, and returns to the frequencies', async () => {
    const { app, simulator, id, admin, scan, receiver, sweeps } = await startSpare()
    expect((await receiver()).scan_range).toEqual({ from_mhz: 470.1, to_mhz: 713.9, step_khz: 25 })
    const before = carriers(simulator)
    expect(await scan()).toMatchObject({ status: 202, json: { source: `receiver:${id}` } })
    const found = await until('the sweep has arrived', async () => {
      const body = await sweeps()
      return body.last !== undefined && body
    })
    expect(found).toMatchObject({ from_mhz: 500, step_mhz: 0.025, calibrated: true })
    expect(found.last).toHaveLength(401)
    expect([found.last[0], found.last[79], found.last[80], found.last[239], found.last[240]]).toEqual([
      ...[-110, -110, -60, -60, -110],
    ])
    await until('the scan has ended', async () => (await receiver()).details?.scanning === undefined)
    expect([simulator.isScanning, carriers(simulator)]).toEqual([false, before])
    expect((await app.get('/api/admin/audit/?action=receiver.scan', admin)).json).toMatchObject([
      { target: `receiver ${id}`, result: 'ok', details: { from_mhz: 500, to_mhz: 510, step_khz: 25 } },
    ])
  })

  // Conformance: C-23.143.
  it.each([
    [{}, /control.*control: \[scan\]/],
    [{ control: ['names', 'frequencies'] }, /control: \[scan\]/],
    [{ control: ['scan'] }, /control_unconfirmed: true/],
  ])('is refused with the configuration %j, and writes nothing', async (config, message) => {
    const { app, simulator, scan } = await startSpare({}, config)
    const { status, json } = await scan()
    expect([status, json.error]).toEqual([409, expect.stringMatching(message)])
    expect(json.error).toContain(app.service.control.file ?? 'micwatch.yaml')
    expect(simulator.udp.received.filter(({ text }) => text.includes('scan'))).toEqual([])
  })

  // Conformance: C-23.144.
  it('requires a session or token of an administrator, also on a local listener', async () => {
    const { app, id, scan } = await startSpare()
    const { status } = await app.post(`/api/receivers/${id}/scan/`, range)
    expect(status).toBe(401)
    expect((await scan({}, await tokenHeaders(app, 'operator'))).status).toBe(403)
  })

  // Conformance: C-23.145.
  it('is refused for a receiver that is no spare, or that receives a transmitter', async () => {
    const simulator = await startEm6000()
    const { markSpare, scan, receiver } = await startFor(simulator)
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('spare') } })
    await markSpare()
    simulator.setLinked(2, true)
    // The device is asked, so that a pack that was just switched on counts.
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('transmitter') } })
    await until('the pack is known', async () => (await receiver()).channels[1].transmitter !== null)
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('transmitter') } })
    expect(simulator.isScanning).toBe(false)
  })

  it('is refused for equipment that cannot scan', async () => {
    const simulator = await startSsc1Simulator()
    onTestEnd(() => simulator.close())
    const { markSpare, scan, receiver } = await startFor(simulator as Simulator)
    await markSpare()
    expect((await receiver()).scan_range).toBeNull()
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('cannot scan') } })
  })

  // Conformance: C-23.146.
  it('is refused while a show runs, and ends when one begins, unless control_during_shows allows it', async () => {
    const { app, simulator, admin, scan, receiver } = await startSpare({ scanStepMs: 2 })
    expect((await scan({ sweeps: 100 })).status).toBe(202)
    expect(simulator.isScanning).toBe(true)
    const { json: show } = await app.post('/api/shows/', { title: 'Matinee' }, admin)
    expect((await app.post(`/api/shows/${show.id}/start`, undefined, admin)).status).toBe(200)
    await until('the scan has ended', async () => (await receiver()).details?.scanning === undefined)
    expect(simulator.isScanning).toBe(false)
    expect(await scan()).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('control_during_shows') },
    })
  })

  // Conformance: C-23.147.
  it('rejects a request without a confirmation, and a range that the receiver does not have', async () => {
    const { simulator, scan } = await startSpare()
    const problems = [
      [{ confirm: undefined }, 'confirm'],
      [{ confirm: false }, 'confirm'],
      [{ from_mhz: 300 }, 'from_mhz'],
      [{ to_mhz: 900 }, 'to_mhz'],
      [{ to_mhz: 500 }, 'to_mhz'],
      [{ step_khz: 10 }, 'step_khz'],
      [{ step_khz: '25' }, 'step_khz'],
    ] as const
    for (const [change, field] of problems) {
      const { status, json } = await scan(change)
      expect([status, json.details]).toEqual([400, expect.stringContaining(`${field}: `)])
    }
    expect(simulator.isScanning).toBe(false)
  })
})

describe.concurrent('a receiver that scans', () => {
  // Conformance: C-23.148.
  it('shows it, is refused a second scan, and raises no alerts about RF', async () => {
    const { simulator, app, admin, scan, stop, receiver, sweeps } = await startSpare({ scanStepMs: 2 })
    const before = carriers(simulator)
    expect((await scan({ sweeps: 1000 })).status).toBe(202)
    const tuned = [
      { channel: 1, mhz: 482.4 },
      { channel: 2, mhz: 482.8 },
    ]
    expect((await receiver()).details.scanning).toMatchObject({ from_mhz: 500, to_mhz: 510, step_khz: 25, tuned })
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('already scanning') } })
    // A level that would be interference on its own frequency.
    simulator.send(
      JSON.stringify({
        mm: [
          [230, 0, 230, 0, 1, 1, 0, 0, 0],
          [230, 0, 230, 0, 1, 1, 0, 0, 0],
        ],
      }),
    )
    const loud = setInterval(() => {
      simulator.send(
        JSON.stringify({
          mm: [
            [230, 0, 230, 0, 1, 1, 0, 0, 0],
            [230, 0, 230, 0, 1, 1, 0, 0, 0],
          ],
        }),
      )
    }, 100)
    onTestEnd(() => clearInterval(loud))
    await until('two sweeps have arrived', async () => ((await sweeps()).waterfall?.length ?? 0) >= 3, 15_000)
    const { channels } = await receiver()
    expect(channels.map(({ condition }: { condition: { state: string } }) => condition.state)).toEqual([
      'tx_off',
      'tx_off',
    ])
    expect(
      (await app.get('/api/alerts/', admin)).json.filter(({ kind }: { kind: string }) => /^rf|interference/.test(kind)),
    ).toEqual([])
    clearInterval(loud)
    expect((await stop()).status).toBe(204)
    expect([simulator.isScanning, carriers(simulator)]).toEqual([false, before])
    expect((await receiver()).details?.scanning).toBeUndefined()
    expect((await stop()).status).toBe(409)
  })

  it('that another program uses is not disturbed', async () => {
    const { simulator, scan } = await startSpare({ scanStepMs: 5 })
    const [, port] = simulator.url.split(':').slice(-2)
    const other = createSocket('udp4')
    onTestEnd(() => void other.close())
    other.send('{"rx1":{"scan":{"config":[1,470100000,713900000,25000]}}}', Number(port), '127.0.0.1')
    await until('the other program scans', () => simulator.isScanning)
    expect(await scan()).toMatchObject({ status: 409, json: { error: expect.stringContaining('already scanning') } })
    expect(simulator.isScanning).toBe(true)
  })

  it('is read completely although datagrams are lost', async () => {
    const { simulator, scan, sweeps } = await startSpare({ scanStepMs: 0.5 })
    simulator.udp.network.dropEvery = 3
    expect((await scan()).status).toBe(202)
    const { last } = await until(
      'the sweep has arrived',
      async () => {
        const body = await sweeps()
        return body.last !== undefined && body
      },
      15_000,
    )
    expect(last).toHaveLength(401)
    expect(last.filter((level: number | null) => level === null)).toEqual([])
  })

  it('that ends its session after each sweep is made to begin again', async () => {
    const { scan, sweeps } = await startSpare({ scansOnce: true })
    expect((await scan({ sweeps: 2 })).status).toBe(202)
    await until('two sweeps have arrived', async () => (await sweeps()).waterfall?.length === 2, 10_000)
  })

  // Conformance: C-23.149.
  it('is tuned to its frequencies again, even if it has stayed where its scan ended', async () => {
    const { simulator, scan, receiver } = await startSpare({ staysTuned: true })
    const before = carriers(simulator)
    expect((await scan()).status).toBe(202)
    await until('the scan has ended', async () => (await receiver()).details?.scanning === undefined)
    expect(carriers(simulator)).toEqual(before)
  })

  // Conformance: C-23.150.
  it('is tuned again when the service stops', async () => {
    const { app, simulator, scan } = await startSpare({ staysTuned: true, scanStepMs: 5 })
    const before = carriers(simulator)
    expect((await scan({ sweeps: 100 })).status).toBe(202)
    await app.close()
    expect([simulator.isScanning, carriers(simulator)]).toEqual([false, before])
  })
})
