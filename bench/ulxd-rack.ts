/** Simulated ULX-D receivers in a separate process: `ulxd-rack.ts <receivers>`. */

import { createShow } from '../simulators/show/show.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'

const show = createShow({ story: false, manufacturers: { shure: 0 } })
const ports: number[] = []
for (let index = 0; index < Number(process.argv[2]); index += 1) {
  const { url } = await startStringsSimulator({ family: 'ulxd', show, firstPerformer: 4 * index })
  ports.push(Number(new URL(url).port))
}
console.log(JSON.stringify({ ports }))
