import { useEffect, useState } from 'react'
import type { ConnectionTest, ManufacturerBody } from '../../../src/contract/manufacturers.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { ActionDialog, Dialog, DialogEnd, Removal } from '../../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { displayName, manufacturersPath } from '../../parts/equipment/manufacturer-names.tsx'
import { TestResult } from './manufacturer-form.tsx'

interface DialogProps {
  readonly record: ManufacturerBody
  onClose(): void
}

/** Tests the connection when it opens. */
export function TestDialog({ record, onClose }: DialogProps) {
  const { api } = useServices()
  const { send, problem } = useRequest()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  const { code } = record
  useEffect(() => {
    void send(() => api.write('POST', `${manufacturersPath}${code}/test`, undefined, 'object')).then((response) => {
      if (response?.ok) setTested(response.body)
    })
  }, [api, send, code])
  return (
    <Dialog title={t('manufacturers.test.result', { name: displayName(record) })} onClose={onClose}>
      <div className="dialog-text">
        {tested === null && problem === null ? <p role="status">{t('manufacturers.test.testing')}</p> : null}
        {tested === null ? null : <TestResult tested={tested} />}
        {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
      </div>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}

interface QuestionProps extends DialogProps {
  onDone(): Promise<void>
}

export function DisableQuestion({ record, ...kind }: QuestionProps) {
  const { api } = useServices()
  return (
    <ActionDialog
      {...kind}
      title={t('manufacturers.enable.question', { name: displayName(record) })}
      action={t('manufacturers.enable.action')}
      tone="usual"
      done={t('manufacturers.enable.disabled', { name: displayName(record) })}
      write={() => api.write('PATCH', `${manufacturersPath}${record.code}/`, { api_enabled: false }, 'object')}
    >
      <p>{t('manufacturers.enable.consequence')}</p>
    </ActionDialog>
  )
}

export function RemovalQuestion({ record, ...kind }: QuestionProps) {
  return (
    <Removal
      {...kind}
      title={t('manufacturers.removal.question', { name: displayName(record) })}
      action={t('manufacturers.removal.text')}
      done={t('manufacturers.removal.done', { name: displayName(record) })}
      path={`${manufacturersPath}${record.code}/`}
    >
      <p>{t('manufacturers.removal.consequence')}</p>
    </Removal>
  )
}
