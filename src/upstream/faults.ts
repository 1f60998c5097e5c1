/** Reads the faults that devices report about themselves and their packs, with their own words. */

import type { Fault, FaultWord } from '../domain/equipment/receiver.ts'
import type { Field } from './field-table.ts'
import { readText } from './fields.ts'

interface FoundFault extends FaultWord {
  readonly fault: Fault
}

/** Null without a fault; undefined if the field was not reported. */
export type ReadFault = FoundFault | null | undefined

/** `part` is null for the whole device. `name` precedes numbers and other values that are no words. */
export function readFault(
  { read }: Pick<Field<Fault>, 'read'>,
  raw: unknown,
  part: string | null = null,
  name?: string,
): ReadFault {
  const fault = read(raw)
  const word = name === undefined ? String(raw) : `${name} ${raw}`
  return fault && { fault, part, word: readText(word) ?? fault }
}

/** The faults that a list of warnings names; undefined if it was not reported. */
export function readWarningFaults(
  faults: Readonly<Record<string, Fault>>,
  warnings: readonly unknown[] | null | undefined,
  part: string | null = null,
): readonly ReadFault[] {
  if (!warnings) return [warnings]
  const found = warnings.flatMap((warning) => {
    const fault = faults[String(warning)]
    return fault === undefined ? [] : { fault, part, word: String(warning) }
  })
  return found.length === 0 ? [null] : found
}

interface FaultDetails {
  readonly fault: Fault | null
  readonly faults?: readonly FaultWord[]
}

/** `faults` are ordered from the most severe. Returns undefined if none of their fields was reported. */
export function toFaultDetails(faults: readonly ReadFault[]): FaultDetails | undefined {
  const found = faults.filter((fault) => fault !== null && fault !== undefined)
  const [worst] = found
  if (worst !== undefined) return { fault: worst.fault, faults: found.map(({ part, word }) => ({ part, word })) }
  return faults.every((fault) => fault === undefined) ? undefined : { fault: null }
}
