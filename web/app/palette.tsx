/** The command palette: pages, slots, people and actions that the role permits. */

import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState, useSyncExternalStore } from 'react'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { pages, pathOf } from '../../src/domain/pages.ts'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { canRespond } from '../parts/alerts/alerts.ts'
import { useAlertResponses } from '../parts/alerts/use-alert-responses.ts'
import { findBest, textOf } from '../parts/channels/search.ts'
import { Combobox } from '../parts/forms/combobox.tsx'
import type { Command } from '../parts/toolbar/commands.ts'
import type { ChannelFacts } from './channel-state.ts'
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
  /** Unique among the items of a kind. */
  readonly id: string | number
  readonly text: string
  /** Also searched. */
  readonly detail?: string
  run(): void
}

/** Thousands of channels become items only when they are found. */
type Candidate = Item | ChannelFacts

/** With more results, refining the search is quicker than scrolling. */
const mostShown = 8

interface PaletteProps {
  /** Text that was typed while the palette was loading. */
  readonly typed: string
  readonly commands: readonly Command[]
  onClose(): void
}

export function Palette({ typed, commands, onClose }: PaletteProps) {
  const { watch } = useServices()
  const [query, setQuery] = useState(typed)
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const openChannel = useOpenChannel()
  const candidates = [...useActions(commands), ...usePages(), ...cards, ...useOtherSlots(), ...usePeople()]
  const found = findBest<Candidate>(candidates, lowerTextOf, query, mostShown)
  return (
    <Combobox
      className="input"
      label={t('palette.title')}
      placeholder={t('palette.hint')}
      autoFocus={true}
      value={query}
      items={found.map((item) => (isItem(item) ? item : channelItem(item, openChannel)))}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      onText={setQuery}
      onChoose={(item) => {
        onClose()
        item.run()
      }}
    >
      {({ kind, text, detail }) => (
        <>
          <span className="suggestion-text">
            <bdi>{text}</bdi>
            {detail ? <small>{detail}</small> : null}
          </span>
          <small>{t(`palette.kinds.${kind}`)}</small>
        </>
      )}
    </Combobox>
  )
}

function isItem(candidate: Candidate): candidate is Item {
  return 'run' in candidate
}

function lowerTextOf(candidate: Candidate): string {
  if (!isItem(candidate)) return textOf(candidate)
  const { text, detail = '' } = candidate
  return `${text} ${detail}`.toLocaleLowerCase()
}

function channelItem(facts: ChannelFacts, open: (channelId: number) => void): Item {
  const { channelId, role, ownName } = facts
  return {
    kind: 'slot',
    id: `channel ${channelId}`,
    text: slotTitle(facts),
    detail: [role, ownName].filter((text) => text).join(' · '),
    run: () => open(channelId),
  }
}

function useOpenChannel(): (channelId: number) => void {
  const navigate = useNavigate()
  return (channelId) => void navigate({ to: '/channels/$id', params: { id: String(channelId) } })
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
        id: name,
        text: pageTitle(name),
        run: () => void navigate({ to: path as Exclude<typeof path, `${string}:${string}`> }),
      }),
    ),
    { kind: 'page', id: 'help', text: t('nav.help'), run: () => location.assign(`${mount}/help/`) },
  ]
}

/** Slots without a channel. */
function useOtherSlots(): readonly Item[] {
  const navigate = useNavigate()
  const records = useWatchState(({ slotRecords }) => slotRecords)
  return useMemo(() => {
    const toItem = ({ slot, title, role }: SlotRecord): Item => ({
      kind: 'slot',
      id: slot,
      text: slotTitle({ slot, title: plainText(title ?? '') }),
      detail: plainText(role ?? ''),
      run: () => void navigate({ to: pathOf('monitor'), search: { q: String(slot) } }),
    })
    return [...records.values()].filter(({ channel_id }) => channel_id === null).map(toItem)
  }, [records, navigate])
}

/** Performers without a slot. The others are found by their slot. */
function usePeople(): readonly Item[] {
  const navigate = useNavigate()
  const { body } = useResource('/api/performers/', 'list')
  const records = useWatchState(({ slotRecords }) => slotRecords)
  return useMemo(() => {
    const placed = new Set([...records.values()].map(({ performer }) => performer?.id))
    return (body ?? [])
      .filter(({ id }) => !placed.has(id))
      .map(({ id, name }) => ({
        kind: 'person',
        id,
        text: plainText(name),
        run: () => void navigate({ to: pathOf('performers') }),
      }))
  }, [body, records, navigate])
}

function useActions(commands: readonly Command[]): readonly Item[] {
  const { alarm, replay } = useServices()
  const ofPage = commands
    .filter(({ key }) => key.length === 1)
    .map(({ key, text, run }): Item => ({ kind: 'action', id: key, text, detail: key, run: () => run(key) }))
  const hasSound = replay !== null || ofPage.some(({ detail }) => detail === 'm')
  return [
    ...ofPage,
    ...(hasSound
      ? []
      : [{ kind: 'action' as const, id: 'sound', text: t('live.keys.sound'), run: () => void alarm.toggleSound() }]),
    ...useAcknowledgements(),
  ]
}

function useAcknowledgements(): readonly Item[] {
  const { acknowledge } = useAlertResponses()
  const alerts = useWatchState(({ alerts }) => alerts)
  const mayOperate = useMay('operate')
  return useMemo(
    () =>
      alerts
        .filter((alert) => mayOperate && canRespond(alert))
        .map((alert) => ({
          kind: 'action',
          id: `alert ${alert.id}`,
          text: t('alerts.acknowledge.of', { alert: alertLine(alert) }),
          run: () => void acknowledge([alert]),
        })),
    [alerts, mayOperate, acknowledge],
  )
}
