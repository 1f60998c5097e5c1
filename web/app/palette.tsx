/** The command palette: pages, slots, people and actions that the role permits. */

import './palette.css'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { pages, pathOf } from '../../src/domain/pages.ts'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { canRespond } from '../parts/alerts/alerts.ts'
import { useAlertResponses } from '../parts/alerts/use-alert-responses.ts'
import { searchFor } from '../parts/channels/visible-slots.ts'
import type { Command } from '../parts/toolbar/commands.ts'
import { useServices, useWatchState } from './context.ts'
import { plainText } from './format.ts'
import { t } from './i18n.ts'
import { pageTitle } from './navigating.tsx'
import { useResource } from './resource.ts'
import { useIsListed } from './sections.ts'
import { useMay } from './session.ts'
import { slotTitle } from './slot-records.ts'

interface Item {
  readonly kind: 'page' | 'slot' | 'person' | 'action'
  readonly text: string
  /** Also searched. */
  readonly detail?: string
  run(): void
}

/** With more results, refining the search is quicker than scrolling. */
const mostShown = 8

interface PaletteProps {
  /** Text that was typed while the palette was loading. */
  readonly typed: string
  readonly commands: readonly Command[]
  onClose(): void
}

export function Palette({ typed, commands, onClose }: PaletteProps) {
  const [query, setQuery] = useState(typed)
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const items = [...useActions(commands), ...usePages(), ...useSlots(), ...usePeople()]
  const found = rank(items, query)
  const index = Math.min(chosen, found.length - 1)
  const run = (item: Item | undefined) => {
    if (item === undefined) return
    onClose()
    item.run()
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen((index + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') run(found[index])
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        className="input"
        type="text"
        role="combobox"
        aria-label={t('palette.title')}
        aria-expanded={true}
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}${index}`}
        aria-autocomplete="list"
        placeholder={t('palette.hint')}
        autoComplete="off"
        maxLength={100}
        // biome-ignore lint/a11y/noAutofocus: it takes the place of the field that had the focus.
        autoFocus={true}
        value={query}
        onChange={({ target }) => {
          setQuery(target.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <div className="palette-items" id={id} role="listbox" aria-label={t('palette.title')}>
        {found.map((item, at) => (
          // The text field keeps the focus and has the keys.
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: see above.
          <div
            key={`${item.kind} ${item.text}`}
            id={`${id}${at}`}
            className="palette-item"
            role="option"
            aria-selected={at === index}
            onClick={() => run(item)}
          >
            <span className="palette-text">
              <bdi>{item.text}</bdi>
              {item.detail ? <small>{item.detail}</small> : null}
            </span>
            <small>{t(`palette.kinds.${item.kind}`)}</small>
          </div>
        ))}
      </div>
      <p className={found.length === 0 ? 'hint' : 'visually-hidden'} role="status">
        {found.length === 0 ? t('palette.none') : t('palette.found', { count: found.length })}
      </p>
    </>
  )
}

/** Texts that begin with the query come first, then texts with a word that begins with it. */
function rank(items: readonly Item[], query: string): readonly Item[] {
  const matches = searchFor(query)
  const start = query.trim().toLocaleLowerCase()
  const rankOf = ({ text }: Item) => {
    const lower = text.toLocaleLowerCase()
    return lower.startsWith(start) ? 0 : lower.includes(` ${start}`) ? 1 : 2
  }
  return items
    .filter(({ text, detail = '' }) => matches(`${text} ${detail}`, null))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .slice(0, mostShown)
}

function usePages(): readonly Item[] {
  const { mount } = useServices()
  const navigate = useNavigate()
  const isListed = useIsListed()
  const hasSites = useWatchState(({ sites }) => sites.length > 0)
  const listed = pages.filter(
    ({ name, path, needs }) =>
      !path.includes(':') && needs !== 'nothing' && isListed(name) && (name !== 'sites' || hasSites),
  )
  return [
    ...listed.map(
      ({ name, path }): Item => ({
        kind: 'page',
        text: pageTitle(name),
        run: () => void navigate({ to: path as Exclude<typeof path, `${string}:${string}`> }),
      }),
    ),
    { kind: 'page', text: t('nav.help'), run: () => location.assign(`${mount}/help/`) },
  ]
}

function useSlots(): readonly Item[] {
  const navigate = useNavigate()
  const records = useWatchState(({ slotRecords }) => slotRecords)
  const receivers = useWatchState(({ receivers }) => receivers)
  const packs = new Map(
    [...receivers.values()].flatMap(({ channels }) => channels.map(({ id, transmitter }) => [id, transmitter?.name])),
  )
  return [...records.values()].map(({ slot, title, role, channel_id }): Item => {
    const pack = packs.get(channel_id ?? -1)
    return {
      kind: 'slot',
      text: slotTitle({ slot, title: plainText(title ?? '') }),
      detail: [role, pack === title ? null : pack].flatMap((text) => (text ? [plainText(text)] : [])).join(' · '),
      run: () =>
        void (channel_id === null
          ? navigate({ to: pathOf('monitor'), search: { q: String(slot) } })
          : navigate({ to: '/channels/$id', params: { id: String(channel_id) } })),
    }
  })
}

/** Performers without a slot. The others are found by their slot. */
function usePeople(): readonly Item[] {
  const navigate = useNavigate()
  const { body } = useResource('/api/performers/', 'list')
  const records = useWatchState(({ slotRecords }) => slotRecords)
  const placed = new Set([...records.values()].map(({ performer }) => performer?.id))
  return (body ?? [])
    .filter(({ id }) => !placed.has(id))
    .map(({ name }) => ({
      kind: 'person',
      text: plainText(name),
      run: () => void navigate({ to: pathOf('performers') }),
    }))
}

function useActions(commands: readonly Command[]): readonly Item[] {
  const { alarm, replay } = useServices()
  const { acknowledge } = useAlertResponses()
  const alerts = useWatchState(({ alerts }) => alerts)
  const mayOperate = useMay('operate')
  const ofPage = commands
    .filter(({ key }) => key.length === 1)
    .map(({ key, text, run }): Item => ({ kind: 'action', text, detail: key, run: () => run(key) }))
  const hasSound = replay !== null || ofPage.some(({ detail }) => detail === 'm')
  return [
    ...ofPage,
    ...(hasSound ? [] : [{ kind: 'action' as const, text: t('live.keys.sound'), run: () => void alarm.toggleSound() }]),
    ...alerts
      .filter((alert) => mayOperate && canRespond(alert))
      .map(
        (alert): Item => ({
          kind: 'action',
          text: t('alerts.acknowledge.of', { alert: alertLine(alert) }),
          run: () => void acknowledge([alert]),
        }),
      ),
  ]
}
