/** Kills a service with SIGKILL while it records, and reads what was lost. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isSameJson } from '../../../src/domain/json.ts'
import { openLevelHistory } from '../../../src/history/levels/open-level-history.ts'
import { type RecordedSecond, readSeconds } from '../recorded-seconds.ts'

interface RecordingService {
  kill(signal: 'SIGKILL'): unknown
  readonly ended: Promise<unknown>
}

export interface RecordingKills {
  /** Seconds between each kill and the end of what was recorded before. */
  readonly lostSeconds: readonly number[]
  /** Describes seconds that were stored before a cycle and differ after it. */
  readonly changed: readonly string[]
}

/** Waits until something is true. Throws if that takes too long. */
type Wait = (description: string, isMet: () => Promise<boolean>) => Promise<unknown>

/** `random` returns numbers in [0, 1). The services of all cycles use the database at `databaseUrl`. */
export async function killWhileRecording<S extends RecordingService>(options: {
  readonly cycles: number
  readonly databaseUrl: string
  start(): Promise<S>
  /** Returns the id of a channel whose transmitter is on. */
  findChannel(service: S): Promise<number>
  readonly wait: Wait
  readonly random: () => number
}): Promise<RecordingKills> {
  const { cycles, databaseUrl, start, findChannel, wait, random } = options
  const read = async (channelId: number): Promise<RecordedSecond[]> => {
    const levels = openLevelHistory({ url: databaseUrl })
    try {
      return await readSeconds(levels, channelId)
    } finally {
      await levels.close()
    }
  }
  const lostSeconds: number[] = []
  const changed: string[] = []
  let before: readonly RecordedSecond[] = []
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const service = await start()
    const channelId = await findChannel(service)
    const listensAt = Date.now() / 1000
    await wait('seconds of this cycle are stored', async () => {
      const last = (await read(channelId)).at(-1)
      return last !== undefined && last.letter === '1' && last.time > listensAt
    })
    await sleep(random() * 6_000)
    const killedAt = Date.now() / 1000
    service.kill('SIGKILL')
    await service.ended
    const after = await read(channelId)
    lostSeconds.push(killedAt - ((after.at(-1)?.time ?? 0) + 1))
    for (const [index, second] of before.entries()) {
      if (isSameJson(after[index], second)) continue
      changed.push(`kill ${cycle}: ${JSON.stringify(second)} became ${JSON.stringify(after[index])}`)
    }
    before = after
  }
  return { lostSeconds, changed }
}
