/** The named fields of a form, as the user sees them. */

import { isRecord, isSameJson } from '../../../src/domain/json.ts'
import { formatList, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'

export interface Entry {
  readonly label: string
  /** Empty for a box that is not ticked. */
  readonly values: readonly string[]
  readonly text: string
  /** False for a field that may contain a password or a token. */
  readonly isKept: boolean
}

/** By name. */
export type Entries = ReadonlyMap<string, Entry>

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const noEntries: readonly string[] = ['file', 'submit', 'button']

/**
 * Without files. `data-label` is the label of a field. The values of `data-secret` are neither shown nor kept, and those
 * of `data-private` are not kept.
 */
export function readEntries(form: HTMLFormElement): Entries {
  const controls = new Map<string, [Control, ...Control[]]>()
  for (const control of form.elements) {
    if (!isControl(control) || control.name === '' || noEntries.includes(control.type)) continue
    if (control.matches(':disabled')) continue
    const group = controls.get(control.name)
    if (group === undefined) controls.set(control.name, [control])
    else group.push(control)
  }
  return new Map([...controls].map(([name, group]) => [name, entryOf(group)]))
}

function isControl(element: Element): element is Control {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement
  )
}

function entryOf(controls: readonly [Control, ...Control[]]): Entry {
  const [first] = controls
  const filled = controls.filter((control) => !isBox(control) || control.checked)
  const isTick = isBox(first) && first.closest('fieldset[data-label]') === null
  const texts = filled.map((control) => plainText(textOf(control))).filter((text) => text !== '')
  return {
    label: first.closest<HTMLElement>('[data-label]')?.dataset.label ?? '',
    values: filled.map(({ value }) => value),
    text: isTick ? t(first.checked ? 'parts.form.on' : 'parts.form.off') : formatList(texts),
    isKept: controls.every(({ dataset }) => dataset.secret === undefined && dataset.private === undefined),
  }
}

function isBox(control: Control): control is HTMLInputElement {
  return control.type === 'checkbox' || control.type === 'radio'
}

function textOf(control: Control): string {
  if (control.dataset.secret !== undefined) return control.value === '' ? '' : '••••'
  if (isBox(control)) return control.labels?.[0]?.textContent ?? ''
  if (control instanceof HTMLSelectElement) return control.selectedOptions[0]?.text ?? ''
  return control.dataset.text ?? control.value
}

/** In the order of the form. */
export function changedNames(before: Entries, after: Entries): readonly string[] {
  const names = new Set([...after.keys(), ...before.keys()])
  return [...names].filter((name) => !isSameJson(before.get(name)?.values ?? [], after.get(name)?.values ?? []))
}

/** Returns the fields of `body` that differ. The others are not sent, because other users may have changed them. */
export function changedFields<Body extends object>(before: Body, body: Body): Partial<Body> {
  const names = Object.keys(body) as (keyof Body)[]
  const changed = names.filter((name) => !isSameJson(before[name] ?? null, body[name] ?? null))
  return Object.fromEntries(changed.map((name) => [name, body[name]])) as Partial<Body>
}

/** Undefined for a record without one. */
export function versionOf(record: unknown): number | undefined {
  return isRecord(record) && typeof record.version === 'number' ? record.version : undefined
}

/** The trimmed text of a field; empty for an absent one. */
export function textIn(values: FormData, name: string): string {
  return String(values.get(name) ?? '').trim()
}
