/**
 * Devices and systems of every family whose levels no longer arrive, and systems that take several polls to read all
 * levels. These tests replace the clock of the process.
 */

import { expect, test } from 'vitest'
import { startAudioTechnicaSimulator } from '../simulators/audio_technica/receivers.ts'
import { startClearcomSimulator } from '../simulators/clearcom/station.ts'
import { startDpaSimulator } from '../simulators/dpa/ndr1.ts'
import { startLectrosonicsSimulator } from '../simulators/lectrosonics/dsqd.ts'
import { startMcpSimulator } from '../simulators/sennheiser/mcp.ts'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import type { SscModel } from '../simulators/sennheiser/ssc1-values.ts'
import { startSsc2Simulator } from '../simulators/sennheiser/ssc2.ts'
import { createShow } from '../simulators/show/show.ts'
import type { SilencedShow } from '../simulators/show/silenced-show.ts'
import { createSilencedShow } from '../simulators/show/silenced-show.ts'
import type { Simulator } from '../simulators/show/simulator.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import { audioTechnica } from '../src/manufacturers/audio_technica/index.ts'
import { clearcom } from '../src/manufacturers/clearcom/index.ts'
import { dpa } from '../src/manufacturers/dpa/index.ts'
import { getPlugin } from '../src/manufacturers/index.ts'
import { lectrosonics } from '../src/manufacturers/lectrosonics/index.ts'
import { sennheiser } from '../src/manufacturers/sennheiser/index.ts'
import { shure } from '../src/manufacturers/shure/index.ts'
import { configFor, startApp, startSennheiser, startShure, startSystemApi, withoutPush } from './support/app.ts'
import { testSilences } from './support/plugins/silence-kit.ts'
import { startVirtualClock } from './support/virtual-clock.ts'

const systems = [
  ['shure', startShure],
  ['sennheiser', startSennheiser],
] as const

function toSilencedDevice(simulator: Simulator, show: SilencedShow) {
  for (const { device } of show.devicesAt(0)) show.set(device.id, { transmitter: true, battery: 80 }, 1)
  const { baseUrl: url, config } = simulator
  return { url, system: config, setSilence: show.setSilence, close: () => simulator.close() }
}

testSilences(
  systems.map(([code, startSystem]) => ({
    name: code,
    plugin: getPlugin(code),
    validSeconds: { rf: 30, audio: 30 },
    async start() {
      const show = createSilencedShow(
        createShow({ story: false, manufacturers: { [code]: 2 }, channelsPerReceiver: 2 }),
      )
      return toSilencedDevice(await startSystem({ show }), show)
    },
  })),
)

testSilences([
  {
    name: 'System API',
    plugin: shure,
    // It reports levels only in words.
    validSeconds: { rf: null, audio: null },
    async start() {
      const show = createSilencedShow(createShow({ story: false, manufacturers: { shure: 2 }, channelsPerReceiver: 2 }))
      return toSilencedDevice(await startSystemApi({ show }), show)
    },
  },
  {
    name: 'N-DR1',
    plugin: dpa,
    validSeconds: { rf: 5, audio: 5 },
    async start() {
      const simulator = await startDpaSimulator({ story: false })
      simulator.change(1, { transmitter: true, battery: 80 })
      const isMeterRequest = (address: string) => address === '/subscribe'
      return Object.defineProperties(simulator, {
        url: { value: simulator.urls[0] },
        meterRequests: { get: () => simulator.received.filter(isMeterRequest).length },
      }) as typeof simulator & { readonly url: string }
    },
  },
])

testSilences(
  (['ulxd', 'qlxd', 'slxd', 'slxd+', 'ad', 'anx4', 'psm1000', 'uhfr', 'mxw', 'mxwnext'] as const).map(
    (family, index) => ({
      name: family,
      plugin: shure,
      validSeconds: { rf: family === 'psm1000' ? null : 5, audio: ['uhfr', 'mxw'].includes(family) ? null : 5 },
      async start() {
        // Each device has an identity of its own.
        const show = createShow({ story: false, manufacturers: { shure: 0 }, firstNumber: 1 + 10 * index })
        const device = await startStringsSimulator({ family, show })
        for (const { channel } of device.state.channels) device.change(channel, { transmitter: true, battery: 80 })
        const isMeterRequest = (command: string) => command.includes('METER')
        return Object.defineProperty(device, 'meterRequests', {
          get: () => device.commands.filter(isMeterRequest).length,
        })
      },
    }),
  ),
)

testSilences(
  (['system20', 'esw'] as const).map((family, index) => ({
    name: family,
    plugin: audioTechnica,
    // A System 20 PRO answers no queries for levels.
    validSeconds: family === 'esw' ? { rf: 30, audio: 30 } : { rf: null, audio: null },
    async start() {
      // The first simulated device is a System 20 PRO, the second an ESW.
      const simulator = await startAudioTechnicaSimulator({ receivers: 1, story: false, firstNumber: index + 1 })
      const [state] = simulator.show.devicesAt(0)
      simulator.show.set(state?.device.id ?? '', { transmitter: true, battery: 80 }, 1)
      return Object.assign(simulator, { url: simulator.baseUrl })
    },
  })),
)

testSilences([
  {
    name: 'DSQD',
    plugin: lectrosonics,
    validSeconds: { rf: 30, audio: 30 },
    async start() {
      const simulator = await startLectrosonicsSimulator({ receivers: 1, story: false })
      const [state] = simulator.show.devicesAt(0)
      simulator.show.set(state?.device.id ?? '', { transmitter: true, battery: 80 }, 1)
      return Object.assign(simulator, { url: simulator.baseUrl })
    },
  },
])

testSilences(
  (['Arcadia', 'FreeSpeak II Base II'] as const).map((name, index) => ({
    name,
    plugin: clearcom,
    // The units of its levels are not public.
    validSeconds: { rf: null, audio: null },
    async start(host: string) {
      const simulator = await startClearcomSimulator({ host, receivers: 1, story: false, firstNumber: index + 1 })
      const [state] = simulator.show.devicesAt(0)
      simulator.show.set(state?.device.id ?? '', { transmitter: true, battery: 80 }, 1)
      return Object.assign(simulator, { url: simulator.baseUrl, password: 'intercom-password' })
    },
  })),
)

const sampled = { rf: 5, audio: 5 }
const changes = { rf: 30, audio: 30 }
const ssc1 = (model: SscModel) => (host: string) =>
  startSsc1Simulator({
    model,
    host,
    mac: `00:1B:66:0A:0B:${host.at(-1)}0`,
    values: { '/device/identity/serial': host },
  })

testSilences(
  [
    { name: 'ew G4', validSeconds: sampled, start: (host: string) => startMcpSimulator({ host }), meters: /^Push/ },
    {
      name: 'ew G4 IEM',
      validSeconds: { rf: null, audio: 5 },
      start: (host: string) => startMcpSimulator({ host, kind: 'SR' }),
      meters: /^Push/,
    },
    { name: 'EW-DX', validSeconds: sampled, start: ssc1('EWDXEM2'), meters: /subscribe.*"rssi"/ },
    {
      ...{ name: 'Digital 6000', validSeconds: sampled, start: ssc1('EM6000'), meters: /subscribe.*"mm"/ },
      sharedLevels: ['rf', 'audio'] as const,
    },
    { name: 'SL MCR 4 DW', validSeconds: changes, start: ssc1('SLDW4CH'), meters: /"level"/ },
    { name: 'SL Rack Receiver DW', validSeconds: changes, start: ssc1('SLDW'), meters: /"level_db"/ },
  ].map(({ start, meters, ...kind }) => ({
    ...kind,
    plugin: sennheiser,
    async start(host: string) {
      const device = await start(host)
      return Object.defineProperty(device, 'meterRequests', {
        get: () => device.udp.received.filter(({ text }) => meters.test(text)).length,
      })
    },
  })),
)

testSilences(
  [
    { product: 'EWDX4CHDS', validSeconds: { rf: 30, audio: 30 } } as const,
    // Its meters are one list of all outputs.
    { product: 'Spectera Base Station', validSeconds: { rf: 30, audio: 5 }, sharedLevels: ['audio'] } as const,
  ].map(({ product, ...kind }) => ({
    ...kind,
    name: product,
    plugin: sennheiser,
    async start(host: string) {
      const device = await startSsc2Simulator({ product, host, serial: host })
      const isMeterRequest = (request: string) => /^PUT .*\/add$/.test(request)
      return Object.defineProperties(device, {
        password: { value: 'stage-right-password' },
        meterRequests: { get: () => device.requests.filter(isMeterRequest).length },
      })
    },
  })),
)

// Conformance: C-22.1.
test('the levels of a system that takes more than 30 s to read them all stay known', async () => {
  const clock = startVirtualClock()
  const simulator = withoutPush(await startShure({ receivers: 12 }))
  // With one request a second, a cycle reads about three devices, which have two parts each.
  const config = configFor(simulator, { calls_per_second: 1, burst: 1, poll_interval: 10 })
  const app = await clock.settle(startApp({ manufacturers: [config] }))
  const states = new Set<string | undefined>()
  let known = 0
  for (let seconds = 0; seconds < 180; seconds += 5) {
    await clock.advance(5_000)
    const channels = (await clock.settle(app.receivers())).flatMap((receiver) => receiver.channels)
    known = channels.filter(({ rf_level }) => rf_level !== null).length
    for (const { condition } of channels)
      for (const state of [condition?.state, ...(condition?.flags ?? [])]) states.add(state)
  }
  expect([...states]).not.toContain('no_levels')
  expect(known).toBe(12 * 2)
  await clock.settle(app.close())
})
