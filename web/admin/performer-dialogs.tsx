/** Dialogs to add, edit, assign and remove performers. */

import type { Performer } from '../../src/contract/resources/performers.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Removal } from '../parts/action-dialog.tsx'
import type { Cast } from '../parts/assignments.ts'
import { AddPerformers } from './add-performers.tsx'
import { AssignUnit } from './assign-unit.tsx'
import { PerformerForm } from './performer-form.tsx'

export type PerformerQuestion =
  | { readonly kind: 'add' | 'addMany' }
  | { readonly kind: 'change' | 'assign' | 'remove'; readonly performer: Performer }

interface DialogProps {
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

export function PerformerDialog({ question, cast, ...rest }: DialogProps & { readonly question: PerformerQuestion }) {
  switch (question.kind) {
    case 'add':
      return <PerformerForm performer={null} {...rest} />
    case 'addMany':
      return <AddPerformers known={cast.performers} {...rest} />
    case 'change':
      return <PerformerForm performer={question.performer} {...rest} />
    case 'assign':
      return <AssignUnit performer={question.performer} cast={cast} {...rest} />
    case 'remove':
      return <Remove performer={question.performer} {...rest} />
    default:
      return question satisfies never
  }
}

function Remove({ performer, onDone, onClose }: Omit<DialogProps, 'cast'> & { readonly performer: Performer }) {
  const name = plainText(performer.name)
  return (
    <Removal
      title={t('performers.removeTitle', { name })}
      action={t('performers.remove')}
      done={t('performers.removed', { name })}
      path={`/api/performers/${performer.id}/`}
      {...{ onDone, onClose }}
    >
      <p>{t('performers.removeConsequence')}</p>
    </Removal>
  )
}
