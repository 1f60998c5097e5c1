/** Systems whose levels no longer arrive, and systems that take several polls to read all levels. */

import { expect, test } from 'vitest'
import { createShow } from '../simulators/show/show.ts'
import type { SilencedShow } from '../simulators/show/silenced-show.ts'
import { createSilencedShow } from '../simulators/show/silenced-show.ts'
import type { Simulator } from '../simulators/show/simulator.ts'
import { getPlugin } from '../src/manufacturers/index.ts'
import { configFor, startApp, startSennheiser, startShure, withoutPush } from './app.ts'
import { testSilences } from './silence-kit.ts'
import { startVirtualClock } from './virtual-clock.ts'

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
