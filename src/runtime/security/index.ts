export type { AnalyzeContext, Analyzer, JudgedAction, Risk, Verdict } from './analyzers/analyzer.js';
export { ensemble } from './analyzers/ensemble.js';
export type { RuleExtension } from './analyzers/load-rules.js';
export { loadRules } from './analyzers/load-rules.js';
export type { RulesAnalyzer, RulesOptions } from './analyzers/rules.js';
export { rules } from './analyzers/rules.js';
export type { AuditLog, AuditLogOptions } from './audit/audit-log.js';
export { openAuditLog } from './audit/audit-log.js';
export type { AuditStoreOptions } from './audit/audit-store.js';
export type { AuditFormat } from './audit/export.js';
export { exportAudit, exportAuditStore } from './audit/export.js';
export type { AuditEntry, AuditRecord } from './audit/record.js';
export type { AuditProblem, AuditVerification } from './audit/verify.js';
export { verifyAudit, verifyAuditStore } from './audit/verify.js';
export { guardPrompt } from './llm-guard/guard-prompt.js';
export type { LlmGuard, LlmGuardOptions, Waiver } from './llm-guard/llm-guard.js';
export { llmGuard } from './llm-guard/llm-guard.js';
export type { GuardableTool } from './llm-guard/llm-guard-runtime.js';
export { LlmGuardRuntime } from './llm-guard/llm-guard-runtime.js';
export type { LanguageModel } from './llm-guard/models.js';
export type { PendingRequest, PendingStore } from './policy/pending.js';
export { filePendingStore } from './policy/pending.js';
export { policy } from './policy/policy.js';
export type { Confirmations } from './policy/store-pending.js';
export { openConfirmations } from './policy/store-pending.js';
export type {
  Answer,
  AnswerScope,
  ConfirmationRequest,
  DecisionRecord,
  JudgeContext,
  Outcome,
  Policy,
  PolicyOptions,
  PolicyRule,
} from './policy/types.js';
export type { SecretMask } from './secrets/secret-mask.js';
export type { SecretOptions, Secrets, SecretValue } from './secrets/secrets.js';
export { createSecrets } from './secrets/secrets.js';
