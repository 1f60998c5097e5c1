import { type AuditAction, auditActions } from '../../src/contract/values.ts'
import { t } from '../app/i18n.ts'

/** The audit log may contain actions of older versions. */
export function actionName(action: string): string {
  return isKnown(action) ? t(`audit.actions.${action}`) : action
}

function isKnown(action: string): action is AuditAction {
  return (auditActions as readonly string[]).includes(action)
}
