/**
 * Two manufacturers' systems on this machine that share one show, and a rack of single devices of every family beside
 * them, so that there is something to see.
 */

import { createShow } from '../simulation/show.ts'
import { startLectrosonicsSimulator } from './lectrosonics/simulator.ts'
import { startSennheiserRack } from './sennheiser/rack/simulator.ts'
import { startSennheiserSimulator } from './sennheiser/simulator.ts'
import { startShureSimulator } from './shure/simulator.ts'
import { startStringsRack } from './shure/strings/simulator.ts'

export interface DemoOptions {
  readonly seed?: number | undefined
  /** Over both manufacturers' systems, and no single devices; 24 and a rack of them unless told. */
  readonly receivers?: number | undefined
  /** The first system's, the second takes the next one; 0 (default): free ones. */
  readonly port?: number
}

export interface Demo {
  readonly manufacturers: readonly {
    readonly code: string
    readonly name: string
    readonly config: Readonly<Record<string, unknown>>
  }[]
  close(): Promise<void>
}

/** Who stands on the rack's channels comes after those whom the systems hear. */
const rackPlace = 70

export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { seed = 1, receivers, port = 0 } = options
  const open: { close(): Promise<void> }[] = []
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    open.push(one)
    return one
  }
  const close = async () => {
    await Promise.all(open.map((one) => one.close()))
  }
  try {
    const shared = { show: createShow({ seed, receivers }), startedAt: Date.now() }
    const shure = keep(await startShureSimulator({ ...shared, port }))
    const sennheiser = keep(await startSennheiserSimulator({ ...shared, port: port === 0 ? 0 : port + 1 }))
    const systems = [
      { code: 'shure', name: 'Shure', config: shure.config },
      { code: 'sennheiser', name: 'Sennheiser', config: sennheiser.config },
    ]
    if (receivers !== undefined) return { manufacturers: systems, close }
    const strings = keep(await startStringsRack(seed, rackPlace))
    const ssc = keep(await startSennheiserRack(seed, rackPlace + 28))
    const others = createShow({ seed, story: false, manufacturers: {} })
    others.add('lectrosonics', { firstPlace: rackPlace + 60 })
    const dsqd = keep(await startLectrosonicsSimulator({ show: others }))
    return {
      manufacturers: [
        { code: 'shure', name: 'Shure', config: { ...shure.config, devices: strings.devices } },
        { code: 'sennheiser', name: 'Sennheiser', config: { ...sennheiser.config, devices: ssc.devices } },
        { code: 'lectrosonics', name: 'Lectrosonics', config: dsqd.config },
      ],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
