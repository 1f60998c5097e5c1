/** Two manufacturers' systems on this machine that share one show, so that there is something to see. */

import { createShow } from '../simulation/show.ts'
import { startSennheiserSimulator } from './sennheiser/simulator.ts'
import { startShureSimulator } from './shure/simulator.ts'

export interface DemoOptions {
  readonly seed?: number
  /** Over both manufacturers; 24 unless told. */
  readonly receivers?: number
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

export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { seed, receivers, port = 0 } = options
  const shared = { show: createShow({ seed, receivers }), startedAt: Date.now() }
  const shure = await startShureSimulator({ ...shared, port })
  const sennheiser = await startSennheiserSimulator({ ...shared, port: port === 0 ? 0 : port + 1 }).catch(
    async (error) => {
      await shure.close()
      throw error
    },
  )
  return {
    manufacturers: [
      { code: 'shure', name: 'Shure', config: shure.config },
      { code: 'sennheiser', name: 'Sennheiser', config: sennheiser.config },
    ],
    close: async () => {
      await Promise.all([shure.close(), sennheiser.close()])
    },
  }
}
