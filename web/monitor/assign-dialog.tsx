import { useRef, useState } from 'react'
import type { ApiResponse } from '../app/api.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useFacts, useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { assign, type Cast, setActive, useCast } from '../parts/channels/assignments.ts'
import { Dialog, DialogEnd } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { Loaded } from '../parts/loaded.tsx'

interface AssignDialogProps {
  readonly receiverId: number
  readonly channelId: number
  onClose(): void
}

export function AssignDialog({ receiverId, channelId, onClose }: AssignDialogProps) {
  const facts = useFacts(receiverId, channelId)
  const cast = useCast()
  if (facts === null) return null
  return (
    <Dialog title={t('card.assignTitle', { name: facts.ownName ?? facts.title, slot: facts.slot })} onClose={onClose}>
      <Loaded resource={cast}>{(loaded) => <Performers {...{ facts, onClose }} cast={loaded} />}</Loaded>
      <DialogEnd onClose={onClose} />
    </Dialog>
  )
}

interface PerformersProps {
  readonly facts: ChannelFacts
  readonly cast: Cast
  onClose(): void
}

function Performers({ facts, cast, onClose }: PerformersProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const [search, setSearch] = useState('')
  // On a touch screen the keyboard would cover the names.
  const focusesSearch = useRef(matchMedia('(pointer: fine)').matches)
  const unit = cast.units.find(
    ({ base_chassis, channel }) => base_chassis === facts.receiverId && channel === facts.channel,
  )
  if (unit === undefined) return <p className="dialog-text">{t('card.noPack')}</p>
  if (cast.performers.length === 0) return <p className="dialog-text">{t('card.noPerformers')}</p>
  const current = cast.assignments.find(({ wireless_unit }) => wireless_unit === unit.id)
  const run = async (write: () => Promise<ApiResponse<unknown>>, done: string) => {
    const response = await send(write)
    if (!response?.ok) return
    onClose()
    showMessage({ text: done })
  }
  const pack = facts.ownName ?? facts.title
  const found = cast.performers
    .filter(({ name, notes }) => `${name} ${notes}`.toLocaleLowerCase().includes(search.trim().toLocaleLowerCase()))
    .toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
  return (
    <div className="assign">
      <input
        className="choice search"
        type="search"
        aria-label={t('card.searchPerformers')}
        placeholder={t('card.searchPerformers')}
        // biome-ignore lint/a11y/noAutofocus: the dialog has been opened to search.
        autoFocus={focusesSearch.current}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {problem === null ? null : <ProblemLine problem={problem} />}
      <ul className="assign-list" aria-label={t('performers.list')}>
        {current === undefined ? null : (
          <li>
            <button
              type="button"
              className="choice"
              disabled={isSending}
              onClick={() => void run(() => setActive(api, current, false), t('card.unassigned', { unit: pack }))}
            >
              {t('card.unassign', { name: facts.performer ?? '' })}
            </button>
          </li>
        )}
        {found.map(({ id, name, notes }) => {
          const isCurrent = current?.performer === id
          const assigned = t('performers.assigned', { unit: pack, name: plainText(name) })
          return (
            <li key={id}>
              <button
                type="button"
                className="choice"
                aria-pressed={isCurrent}
                disabled={isSending || isCurrent}
                onClick={() => void run(() => assign(api, cast, { performer: id, wireless_unit: unit.id }), assigned)}
              >
                <bdi dir="auto">{plainText(name)}</bdi>
                <span className="assign-notes">{plainText(notes)}</span>
              </button>
            </li>
          )
        })}
      </ul>
      {found.length === 0 ? <p>{t('card.nobodyFound', { search })}</p> : null}
    </div>
  )
}
