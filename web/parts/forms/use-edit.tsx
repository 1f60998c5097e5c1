/**
 * Protects the input of a form: from changes by other users, and from a reload of the page. The values that the form
 * would have for another version of the record are read from a hidden copy of its fields.
 */

import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { isSameJson } from '../../../src/domain/json.ts'
import type { ApiResponse } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { serviceNow } from '../../app/service-time.ts'
import { useSession } from '../../app/session.ts'
import { changedNames, type Entries, type Entry, readEntries, versionOf } from './entries.ts'
import { FieldStatesContext, initialStates } from './field-state.ts'
import { accountOf, dropInput, findKeptInput, type KeptInput, keepInput, keyOf } from './kept-input.ts'
import { useUnsavedForm } from './unsaved-forms.ts'

/** A record, or null for a new one. */
export interface Editing<Edited> {
  /** Address of the record, or of the list for a new one. Also identifies the kept input. */
  readonly address: string
  /** Only its first value counts, because messages must not change the form. */
  readonly record: Edited
  /** As last read, null if it was deleted. */
  readonly latest?: Edited | null | undefined
  /** Reads the record from a response with status 412, if it is not the record itself. */
  read?(current: unknown): Edited
  /** True if a deleted record can be added again. */
  readonly canAdd?: boolean
  /** Describes a change by another user for which the form has no field. */
  describe?(before: Edited, after: Edited): string | null
}

/** Given to the function that sends the values of a form. */
export interface Sending<Edited> {
  /** The latest known record, null for a new one. */
  readonly record: Edited
  /** Of `record`. */
  readonly version: number | undefined
  /** The values of the form before the first input. */
  readonly before: FormData
}

export interface Change {
  readonly name: string
  readonly label: string
  readonly before: string
  readonly after: string
  /** Null unless the user has changed the same field. */
  readonly mine: string | null
}

export interface Conflict {
  readonly kind: 'changed' | 'deleted'
  readonly changes: readonly Change[]
  readonly other: string | null
}

const deleted: Conflict = { kind: 'deleted', changes: [], other: null }

interface State<Edited> {
  /** The record that the fields were made for. */
  readonly opened: Edited
  /** The latest known record. */
  readonly present: Edited
  readonly entered: ReadonlyMap<string, readonly string[]>
  /** Each round mounts new fields. */
  readonly round: number
  /** After an attempt to save. */
  readonly conflict: Conflict | null
  /** Before an attempt to save. */
  readonly news: Conflict | null
}

export function useEdit<Edited>(
  form: RefObject<HTMLFormElement | null>,
  fieldsOf: (record: Edited) => ReactNode,
  editing: Editing<Edited> | undefined,
) {
  const record = editing?.record ?? (null as Edited)
  const [state, setState] = useState<State<Edited>>({
    ...{ opened: record, present: record, conflict: null, news: null },
    ...{ entered: new Map(), round: 0 },
  })
  const { opened, present, conflict } = state
  const { copy, readCopy } = useCopy(fieldsOf)
  const change = (changes: Partial<State<Edited>>) => setState((before) => ({ ...before, ...changes }))
  const kept = useKept(form, editing?.address ?? null, () => readCopy(opened).entries)
  const isSending = useRef(false)

  const compare = (after: Edited): Conflict => {
    const [old, theirs, mine] = [readCopy(opened).entries, readCopy(after).entries, entriesIn(form)]
    return {
      kind: 'changed',
      changes: changedNames(old, theirs).map((name) => changeOf(name, { old, theirs, mine })),
      other: editing?.describe?.(opened, after) ?? null,
    }
  }

  const latest = editing?.latest
  const noteNews = useEffectEvent((record: Edited | null) => {
    if (isSending.current) return
    if (record === null) return change({ news: opened === null ? null : deleted })
    if ((versionOf(record) ?? 0) <= (versionOf(present) ?? 0)) return
    const news = compare(record)
    if (!isEmpty(news)) change({ news })
  })
  useEffect(() => {
    if (latest === undefined) return
    let isCurrent = true
    // Effects cannot read the copy.
    queueMicrotask(() => {
      if (isCurrent) noteNews(latest)
    })
    return () => {
      isCurrent = false
    }
  }, [latest])

  const save = async <Body,>(
    record: Edited,
    send: (sending: Sending<Edited>) => Promise<ApiResponse<Body>>,
  ): Promise<ApiResponse<Body>> => {
    if (editing === undefined) return send({ record, version: undefined, before: new FormData() })
    isSending.current = true
    const before = readCopy(record === null ? record : opened).values
    const response = await send({ record, version: versionOf(record), before })
    isSending.current = false
    if (response.ok) {
      kept.drop()
      return response
    }
    const { status, current } = response.problem
    if (opened === null || record === null || (status !== 404 && status !== 412)) return response
    const after = status === 404 ? record : editing.read ? editing.read(current) : (current as Edited)
    const found = status === 404 ? deleted : compare(after)
    // The form has no field for the other change, so both changes are kept.
    const isElsewhere = found.kind === 'changed' && isEmpty(found) && versionOf(after) !== versionOf(record)
    if (isElsewhere) return save(after, send)
    change({ conflict: found, news: null, present: after })
    const detail = t(`parts.form.conflict.${found.kind}`)
    return { ok: false, problem: { ...response.problem, field: undefined, detail } }
  }

  /** True if the form holds input to save. */
  const keepTheirs = (): boolean => {
    const { changes } = conflict ?? deleted
    const isOverlapping = changes.some(({ mine }) => mine !== null)
    const mine = entriesIn(form)
    const theirs = new Set(changes.map(({ name }) => name))
    const names = changedNames(readCopy(opened).entries, mine).filter((name) => isOverlapping && !theirs.has(name))
    const entered = new Map(names.map((name) => [name, mine.get(name)?.values ?? []]))
    kept.drop()
    setState({ opened: present, present, entered, round: state.round + 1, conflict: null, news: null })
    kept.restart(entered.size > 0)
    return entered.size > 0
  }

  const restore = (input: KeptInput) => {
    const now = readCopy(opened).entries
    const [old, mine] = [keptEntries(input.before), keptEntries(input.fields)]
    const theirs = new Map([...now].filter(([name]) => old.has(name)))
    const typed = entriesIn(form)
    for (const name of changedNames(now, typed)) mine.set(name, typed.get(name) ?? blank)
    const changes = changedNames(old, theirs).map((name) => changeOf(name, { old, theirs, mine }))
    change({
      entered: new Map([...mine].map(([name, { values }]) => [name, values])),
      round: state.round + 1,
      conflict: changes.length === 0 ? null : { kind: 'changed', changes, other: null },
    })
    kept.restart(true)
  }
  return { ...state, copy, offer: kept.offer, noteInput: kept.note, discard: kept.drop, save, keepTheirs, restore }
}

function isEmpty({ changes, other }: Conflict): boolean {
  return changes.length === 0 && other === null
}

const blank: Entry = { label: '', values: [], text: '', isKept: true }

function keptEntries(fields: KeptInput['fields']): Map<string, Entry> {
  return new Map(Object.entries(fields).map(([name, field]) => [name, { ...blank, ...field }]))
}

function entriesIn(form: RefObject<HTMLFormElement | null>): Entries {
  return form.current === null ? new Map() : readEntries(form.current)
}

interface Three {
  readonly old: Entries
  readonly theirs: Entries
  readonly mine: Entries
}

function changeOf(name: string, { old, theirs, mine }: Three): Change {
  const [before, after, own] = [old, theirs, mine].map((entries) => entries.get(name) ?? blank) as [Entry, Entry, Entry]
  const isMine = !isSameJson(own.values, before.values) && !isSameJson(own.values, after.values)
  return {
    ...{ name, label: after.label || before.label },
    ...{ before: before.text || t('card.none'), after: after.text || t('card.none') },
    mine: isMine ? own.text || t('card.none') : null,
  }
}

/** Reads the values that the form would have for another record, from a hidden copy. */
function useCopy<Edited>(fieldsOf: (record: Edited) => ReactNode) {
  const [copied, setCopied] = useState<{ readonly record: Edited } | null>(null)
  const form = useRef<HTMLFormElement>(null)
  const readCopy = (record: Edited) => {
    flushSync(() => setCopied({ record }))
    const values = new FormData(form.current ?? undefined)
    const entries = entriesIn(form)
    flushSync(() => setCopied(null))
    return { values, entries }
  }
  const copy =
    copied === null ? null : (
      <form ref={form} hidden={true} inert={true}>
        <FieldStatesContext value={initialStates}>{fieldsOf(copied.record)}</FieldStatesContext>
      </form>
    )
  return { copy, readCopy }
}

/** Keeps the input for the account of the session until it is saved or discarded. */
function useKept(form: RefObject<HTMLFormElement | null>, address: string | null, readInitial: () => Entries) {
  const { mount } = useServices()
  const session = useSession()
  const key = session === null || address === null ? null : keyOf(accountOf(mount, session), address)
  const [offer, setOffer] = useState<KeptInput | null>(null)
  const initial = useRef<Entries | null>(null)
  const isUnsaved = useRef(false)
  useEffect(() => {
    if (key !== null) setOffer(findKeptInput(key, serviceNow()))
  }, [key])

  const drop = () => {
    isUnsaved.current = false
    setOffer(null)
    if (key !== null) dropInput(key)
  }
  const note = () => {
    if (address === null) return
    initial.current ??= readInitial()
    const [before, entries] = [initial.current, entriesIn(form)]
    const names = changedNames(before, entries)
    isUnsaved.current = names.length > 0
    if (key === null) return
    const fieldsOf = (from: Entries) =>
      Object.fromEntries(
        names.flatMap((name) => {
          const { values, text } = from.get(name) ?? blank
          return entries.get(name)?.isKept === true ? [[name, { values, text }]] : []
        }),
      )
    const fields = { ...offer?.fields, ...fieldsOf(entries) }
    if (Object.keys(fields).length === 0) return dropInput(key)
    keepInput(key, {
      title: form.current?.closest('dialog')?.querySelector('h2')?.textContent ?? document.title,
      page: location.pathname + location.search,
      at: serviceNow(),
      fields,
      before: { ...offer?.before, ...fieldsOf(before) },
    })
  }
  /** For new fields. */
  const restart = (hasInput: boolean) => {
    initial.current = null
    isUnsaved.current = hasInput
    setOffer(null)
  }
  useUnsavedForm({ isUnsaved: () => isUnsaved.current, discard: drop })
  return { offer, note, drop, restart }
}
