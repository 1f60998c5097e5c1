import type { HeardSource } from '../manufacturers/sources.ts'
import type { TakenOwnership } from './ownership.ts'
import type { Reports } from './reports.ts'

/** A system counts calls whoever makes them: its rate limit and its pauses outlive the process that met them. */
export function takeOver(
  reports: Pick<Reports, 'holdMs'>,
  { id, link }: Pick<HeardSource, 'id' | 'link'>,
  { idleMs }: Pick<TakenOwnership, 'idleMs'>,
): void {
  if (idleMs !== null) link.takeOver({ idleMs, holdMs: reports.holdMs(id) })
}
