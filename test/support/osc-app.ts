/** Starts the service with OSC and one simulated receiver, whose first channel receives the transmitter Zoë. */

import { configFor, deviceOf, startApp, startShure, type TestAppOptions, until, withoutPush } from './app.ts'

export async function startWithOsc(osc: object, more: object = {}, options: TestAppOptions = {}) {
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const { id } = deviceOf(simulator)
  simulator.show.set(id, { name: 'Zoë', battery: 61, rf_level: -47, audio_level: -20 }, 1)
  const app = await startApp({ ...options, manufacturers: [configFor(simulator)], config: { osc, ...more } })
  await until('the device is known', () => app.receiver(id))
  return { app, simulator, id }
}
