/** What was asked about the layout, and what comes of it. */

import type { LayoutLocation, LayoutReceiver } from '../../src/model/location.ts'
import { isNothing } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import type { Place, Standing } from '../layout.ts'
import { oneByOne, type Tally } from '../one-by-one.ts'
import { Removal } from '../parts/deed-dialog.tsx'
import { Confirmation } from '../parts/dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { useSending } from '../reading.ts'
import { MoveForm, PlaceForm, ReceiverForm } from './layout-forms.tsx'
import { nameIn, receiversPath, useMove } from './layout-move.ts'
import { nameOf } from './layout-place.tsx'

/** As it was when it was asked: what the page reads meanwhile must not change the question. */
export type Asked =
  | { readonly deed: 'move' | 'remove'; readonly receivers: readonly Standing[] }
  | { readonly deed: 'edit_receiver'; readonly receiver: LayoutReceiver; readonly place: number | null }
  | { readonly deed: 'edit_place'; readonly location: LayoutLocation | null; readonly parent: number | null }
  | { readonly deed: 'remove_place'; readonly location: LayoutLocation }

interface LayoutDialogProps {
  readonly asked: Asked
  readonly places: readonly Place[]
  /** What came of a deed about several. */
  onReport(tally: Tally): void
  onDone(): Promise<void>
  onClose(): void
}

export function LayoutDialog({ asked, places, onReport, onDone, onClose }: LayoutDialogProps) {
  const say = useSay()
  const move = useMove()
  const shared = { places, onClose }
  const finish = async (text: string, undo?: () => Promise<void>) => {
    onClose()
    say({ text, undo })
    await onDone()
  }
  const moveBack = async (before: readonly Standing[]) => {
    const answer = await move(before, t('layout.move.undoReason'))
    await onDone()
    if (!answer.ok) return say({ text: answer.problem.detail, tone: 'alarm' })
    onReport(answer.body)
    say({ text: t('layout.move.undone', { count: answer.body.done.length }) })
  }
  const finishMove = (moved: readonly Standing[], tally: Tally) => {
    onReport(tally)
    const back = moved.filter(({ receiver }) => tally.done.includes(receiver.id))
    void finish(t('layout.move.done', { count: tally.done.length }), () => moveBack(back))
  }
  const finishRemoval = (tally: Tally) => {
    onReport(tally)
    void finish(t('layout.removal.done', { count: tally.done.length }))
  }

  switch (asked.deed) {
    case 'move':
      return <MoveForm {...shared} moved={asked.receivers} onDone={(tally) => finishMove(asked.receivers, tally)} />
    case 'remove':
      return <ReceiverRemoval receivers={asked.receivers} onDone={finishRemoval} onClose={onClose} />
    case 'edit_receiver': {
      const { receiver, place } = asked
      const done = () => void finish(t('layout.saved', { name: nameOf(receiver) }))
      return <ReceiverForm {...shared} receiver={receiver} place={place} onDone={done} />
    }
    case 'edit_place': {
      const { location, parent } = asked
      const done = ({ name }: { readonly name: string }) => void finish(t('layout.saved', { name: plainText(name) }))
      return <PlaceForm {...shared} location={location} parent={parent} onDone={done} />
    }
    case 'remove_place': {
      const name = plainText(asked.location.name)
      return (
        <Removal
          title={t('layout.location.question', { name })}
          action={t('layout.remove')}
          done={t('layout.location.deleted', { name })}
          path={`/api/admin/locations/${asked.location.id}/`}
          onDone={onDone}
          onClose={onClose}
        >
          <p>{t('layout.location.consequence')}</p>
        </Removal>
      )
    }
    default:
      return asked satisfies never
  }
}

interface ReceiverRemovalProps {
  readonly receivers: readonly Standing[]
  onDone(tally: Tally): void
  onClose(): void
}

function ReceiverRemoval({ receivers, onDone, onClose }: ReceiverRemovalProps) {
  const { api } = useSurroundings()
  const { send, isSending, problem } = useSending()
  const ids = receivers.map(({ receiver }) => receiver.id)
  const remove = async () => {
    const answer = await send(() =>
      oneByOne(ids, nameIn(receivers), (id) => api.write('DELETE', `${receiversPath}${id}/`, undefined, isNothing)),
    )
    if (answer?.ok) onDone(answer.body)
  }
  return (
    <Confirmation
      title={t('layout.removal.question', { count: ids.length })}
      action={t('layout.removal.text')}
      tone="alarm"
      isSending={isSending}
      problem={problem}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{t('layout.removal.consequence')}</p>
    </Confirmation>
  )
}
