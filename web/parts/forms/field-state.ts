/** The state that a form passes to its fields. */

import { createContext, useContext, useState } from 'react'
import type { Problem } from '../../app/api.ts'

interface FieldStates {
  readonly problem: Problem | null
  /** Initial input by field name. Other fields start with the values of the record. */
  readonly entered: ReadonlyMap<string, readonly string[]>
  /** The present values of the fields that another user has changed meanwhile, by name. */
  readonly changed: ReadonlyMap<string, string>
}

export const initialStates: FieldStates = { problem: null, entered: new Map(), changed: new Map() }

export const FieldStatesContext = createContext(initialStates)

export function useFieldProblem(name: string): string | null {
  const { problem } = useContext(FieldStatesContext)
  return problem?.field === name ? problem.detail : null
}

export function useChangedText(name: string): string | null {
  return useContext(FieldStatesContext).changed.get(name) ?? null
}

export function useEntered(name: string): readonly string[] | undefined {
  return useContext(FieldStatesContext).entered.get(name)
}

/** The state of a controlled field. */
export function useFieldState(name: string, initial: string) {
  const [first = initial] = useEntered(name) ?? []
  return useState(first)
}

/** The state of a controlled box. */
export function useTickState(name: string, initial: boolean) {
  const entered = useEntered(name)
  return useState(entered === undefined ? initial : entered.length > 0)
}
