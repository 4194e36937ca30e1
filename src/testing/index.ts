/** What you prove a backend with: `workcell/testing`. It needs no test runner and works under any. */
export {
  type ContractOptions,
  type ContractRuntime,
  type ContractTest,
  contractTests,
  type Dimension,
} from './contract/contract.js';
export { type Requirement, type RequirementId, requirements, type Trait } from './contract/requirements.js';
