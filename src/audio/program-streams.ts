/** The streams of the programs in the configuration. */

import type { AudioCommand } from '../config/audio.ts'
import { newStream, type StoredStream } from '../domain/audio/audio-stream.ts'
import { deleteAudioStreams, insertAudioStream, updateAudioStream } from '../storage/audio-streams.ts'
import type { Tx } from '../storage/database.ts'

/** Returns the program of a stream; undefined if it is of no program, or of one that is gone. */
export function findProgram(commands: readonly AudioCommand[], { key }: StoredStream): AudioCommand | undefined {
  return commands.find(({ name }) => keyOf(name) === key)
}

/** Stores a stream for each program, and deletes those of programs that are gone. */
export async function storePrograms(
  tx: Tx,
  commands: readonly AudioCommand[],
  stored: readonly StoredStream[],
): Promise<StoredStream[]> {
  const gone = stored.filter((stream) => stream.source === 'command' && findProgram(commands, stream) === undefined)
  await deleteAudioStreams(
    tx,
    gone.map(({ id }) => id),
  )
  const streams: StoredStream[] = []
  for (const { name, format, rate, channels } of commands) {
    const key = keyOf(name)
    const encoding = format === 's16le' ? 'L16' : 'L24'
    const described = { encoding, sample_rate: rate, channels } as const
    const known = stored.find((stream) => stream.key === key)
    const stream =
      known === undefined
        ? await insertAudioStream(tx, { ...newStream, ...described, key, name, source: 'command' })
        : { ...known, ...described }
    if (known !== undefined) await updateAudioStream(tx, stream)
    streams.push(stream)
  }
  return streams
}

function keyOf(name: string): string {
  return `command ${name}`
}
