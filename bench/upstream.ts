/**
 * A simulated system in a process of its own, so that what it pushes costs nobody who measures:
 * `upstream.ts <receivers> <channels per receiver> <pushes per second>`.
 */

import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'

const [receivers, channelsPerReceiver, pushesPerSecond] = process.argv.slice(2).map(Number)
const simulator = await startShureSimulator({
  receivers,
  channelsPerReceiver,
  pushesPerSecond,
  richList: true,
  story: false,
})
console.log(JSON.stringify({ manufacturer: simulator.manufacturer, config: simulator.config }))
