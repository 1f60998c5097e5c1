/**
 * A simulated system that runs in a separate process, so that its CPU time is not part of the measurement:
 * `upstream.ts <receivers> <channels per receiver> <pushes per second>`.
 */

import { startShureSimulator } from '../simulators/shure/device-api.ts'

const [receivers, channelsPerReceiver, pushesPerSecond] = process.argv.slice(2).map(Number)
const simulator = await startShureSimulator({
  receivers,
  channelsPerReceiver,
  pushesPerSecond,
  richList: true,
  story: false,
})
console.log(JSON.stringify({ manufacturer: simulator.manufacturer, config: simulator.config }))
