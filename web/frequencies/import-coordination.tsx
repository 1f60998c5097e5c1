import { FileInput } from 'lucide-react'
import { useRef, useState } from 'react'
import type { CoordinationImport } from '../../src/contract/imports.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { useRequest } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Confirmation } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowUndoable } from '../parts/dialogs/messages.tsx'
import { Field } from '../parts/forms/field.tsx'
import { fileProblem } from './file-problem.ts'

/** Chooses a file of another program, shows what would be stored, and imports it. */
export function ImportCoordination({ onDone }: { onDone(): Promise<void> }) {
  const mayOperate = useMay('operate')
  const [step, setStep] = useState<'closed' | 'choosing' | { form: FormData; preview: CoordinationImport }>('closed')
  const close = () => setStep('closed')
  if (!mayOperate) return null
  return (
    <>
      <button type="button" className="choice" onClick={() => setStep('choosing')}>
        <FileInput className="icon" aria-hidden="true" />
        {t('frequencies.import.open')}
      </button>
      {step === 'choosing' ? (
        <ChooseFile onPreview={(form, preview) => setStep({ form, preview })} onClose={close} />
      ) : null}
      {typeof step === 'object' ? <ConfirmImport {...step} onDone={onDone} onClose={close} /> : null}
    </>
  )
}

interface ChooseFileProps {
  onPreview(form: FormData, preview: CoordinationImport): void
  onClose(): void
}

function ChooseFile({ onPreview, onClose }: ChooseFileProps) {
  const { api } = useServices()
  const chosen = useRef(new FormData())
  const send = (values: FormData) => {
    chosen.current = values
    return api.upload('/api/import/coordination/?preview=1', values)
  }
  return (
    <FormDialog
      title={t('frequencies.import.title')}
      action={t('frequencies.import.preview')}
      check={fileProblem}
      onDone={(preview: CoordinationImport) => onPreview(chosen.current, preview)}
      {...{ send, onClose }}
    >
      <Field
        name="file"
        type="file"
        label={t('frequencies.scans.file')}
        hint={t('frequencies.import.fileHint')}
        accept=".shw,.cws,.wsm,.csv,.eqp"
      />
    </FormDialog>
  )
}

interface ConfirmImportProps {
  readonly form: FormData
  readonly preview: CoordinationImport
  onDone(): Promise<void>
  onClose(): void
}

function ConfirmImport({ form, preview, onDone, onClose }: ConfirmImportProps) {
  const { api } = useServices()
  const [, change] = useSearch()
  const { send, isSending, problem } = useRequest()
  const showUndoable = useShowUndoable()
  const { plan, profiles } = preview
  const title = plainText(plan?.title ?? profiles.map(({ name }) => name).join(', '))
  const confirm = async () => {
    const response = await send(() => api.upload('/api/import/coordination/', form))
    if (response?.ok !== true) return
    onClose()
    showUndoable(t('frequencies.import.done', { title }), [response.undoId])
    if (response.body.plan !== null) change({ plan: String(response.body.plan.id) })
    await onDone()
  }
  return (
    <Confirmation
      title={t('frequencies.import.confirmTitle', { title })}
      action={t('frequencies.import.confirm')}
      tone="usual"
      {...{ isSending, problem, onClose }}
      onConfirm={() => void confirm()}
    >
      {plan === null ? (
        <p>{t('frequencies.import.profiles', { names: title })}</p>
      ) : (
        <PlanPreview {...{ preview, plan }} />
      )}
    </Confirmation>
  )
}

function PlanPreview({
  preview: { matches, placeholders, profiles, skipped },
  plan,
}: {
  readonly preview: CoordinationImport
  readonly plan: NonNullable<CoordinationImport['plan']>
}) {
  const added = placeholders.filter(({ is_new }) => is_new)
  const facts = [
    t('frequencies.plans.carriers', { count: plan.carriers.length }),
    t('frequencies.import.spares', { count: plan.spares.length }),
    t('frequencies.conflicts.titleWithCount', { count: plan.conflict_count }),
  ]
  return (
    <>
      <p>{facts.join(' · ')}</p>
      {matches.length === 0 ? null : (
        <p>
          {t('frequencies.import.matches', {
            count: matches.length,
            names: matches.map(({ receiver }) => plainText(receiver)).join(', '),
          })}
        </p>
      )}
      {added.length === 0 ? null : (
        <p>
          {t('frequencies.import.placeholders', {
            count: added.length,
            names: added.map(({ slot, name }) => `${slot} ${plainText(name)}`).join(', '),
          })}
        </p>
      )}
      {profiles.length === 0 ? null : (
        <p>
          {t('frequencies.import.listedProfiles', {
            count: profiles.length,
            names: profiles.map(({ name }) => plainText(name)).join(', '),
          })}
        </p>
      )}
      {skipped.length === 0 ? null : (
        <ul className="skipped-rows" aria-label={t('frequencies.import.skipped')}>
          {skipped.map(({ line, why }) => (
            <li key={`${line} ${why}`}>{t('frequencies.scans.skipped', { line, why: plainText(why) })}</li>
          ))}
        </ul>
      )}
    </>
  )
}
