import { describe, expect, it } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import type { ChannelState } from '../domain/history/channel-state.ts'
import { listChannelStatesAt, listLastChannelStates, pruneChannelStates, saveChannelStates } from './channel-states.ts'

function stateNamed(name: string): ChannelState {
  const condition = { state: 'ok', severity: 'ok', attention: false, since: 5 } as const
  return { name, frequency: null, transmitter: null, condition, last_transmitter: null, assignment: null }
}

describe.each(engines)('states of channels (%s)', (engine) => {
  // Conformance: C-12.27.
  it('are found at a time, until they are pruned', async () => {
    const db = await openStore(engine)
    const rows = [
      [1, 1000, 'a'],
      [1, 2000, 'b'],
      [1, 3000, null],
      [7, 1500, 'c'],
      [7, 4000, 'd'],
    ] as const
    await db.transaction((tx) =>
      saveChannelStates(
        tx,
        rows.map(([channel_id, time, name]) => ({ channel_id, time, state: name === null ? null : stateNamed(name) })),
      ),
    )
    const namesAt = async (time: number) =>
      (await listChannelStatesAt(db.read, time)).map(({ channel_id, state }) => [channel_id, state.name])
    expect(await namesAt(999)).toEqual([])
    expect(await namesAt(1999)).toEqual([
      [1, 'a'],
      [7, 'c'],
    ])
    expect(await namesAt(2000)).toEqual([
      [1, 'b'],
      [7, 'c'],
    ])
    expect(await namesAt(9000)).toEqual([[7, 'd']])
    expect([...(await listLastChannelStates(db.read, [1, 7, 8]))]).toEqual([
      [1, null],
      [7, stateNamed('d')],
    ])
    await db.transaction((tx) => saveChannelStates(tx, [{ channel_id: 7, time: 4000, state: stateNamed('e') }]))
    const prune = () => db.transaction((tx) => pruneChannelStates(tx, 2500, 1))
    expect([await prune(), await prune()]).toEqual([1, 0])
    expect(await db.read.selectFrom('channel_states').select(['channel_id', 'time']).orderBy('time').execute()).toEqual(
      [
        { channel_id: 7, time: 1500 },
        { channel_id: 1, time: 2000 },
        { channel_id: 1, time: 3000 },
        { channel_id: 7, time: 4000 },
      ],
    )
    expect(await namesAt(9000)).toEqual([[7, 'e']])
  })
})
