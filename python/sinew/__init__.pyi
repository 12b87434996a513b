"""Types of the package. The docstrings are in the code."""
import os
from typing import Any, Callable, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

COVERAGE: Tuple[str, ...]
TRANSFER_HOW: Tuple[str, ...]

_Path = Union[str, "os.PathLike[str]"]
_File = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]
_Progress = Optional[Callable[[float], object]]
_Edits = Union[str, bytes, Mapping[str, Any], Sequence[Mapping[str, Any]]]
_Pose = Union[str, bytes, Mapping[str, Any], ArrayLike]
_Flag = Union[bool, Literal["on", "off"], None]
_Method = Literal["surface-heat", "geodesic-voxel", "closest-distance", "closest-hierarchy", "pixel-geodesic", "connectivity", "mesh-geodesic", "voxel-heat", "bone-heat", "bounded-biharmonic"]
_Joints = Union[str, int, Sequence[Union[int, str]], NDArray[np.bool_], None]
_Weights = Union["Weights", ArrayLike, Tuple[ArrayLike, ArrayLike, ArrayLike]]

class Error(Exception):
    code: str
    @property
    def text(self) -> str: ...
    @property
    def options(self) -> Tuple[Tuple[str, Optional[str]], ...]: ...
class UsageError(Error, ValueError): ...
class InputError(Error, ValueError): ...
class TooLargeError(Error, MemoryError): ...
class FileError(Error, OSError): ...
class Cancelled(Error): ...
class InternalError(Error, RuntimeError): ...
class GateError(Error):
    gates: Tuple[Gate, ...]
class Gate(NamedTuple):
    name: str
    limit: float
    value: float

class Joint(NamedTuple):
    name: str
    parent: int
    head: Tuple[float, float, float]
    tail: Optional[Tuple[float, float, float]]
    axes: Tuple[Tuple[float, float, float], ...]
    deforms: bool
    reason: str

class Defects(NamedTuple):
    triangles: NDArray[np.uint8]
    edges: NDArray[np.uint32]

class Rig(NamedTuple):
    skeleton: str
    confidence: float
    symmetry: float
    limbs_found: int
    limbs_expected: int
    notes: Tuple[str, ...]
    def arrays(self) -> Dict[str, Any]: ...

class Weights:
    joint_names: Tuple[str, ...]
    how: Optional[NDArray[np.uint8]]
    messages: Tuple[str, ...]
    @classmethod
    def from_csr(cls, indptr: ArrayLike, indices: ArrayLike, data: ArrayLike, joints: Union[int, Sequence[str]]) -> Weights: ...
    @classmethod
    def from_dense(cls, dense: ArrayLike, joints: Optional[Sequence[str]] = ...) -> Weights: ...
    @property
    def indptr(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def data(self) -> NDArray[np.float32]: ...
    @property
    def shape(self) -> Tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __array__(self, dtype: Any = ..., copy: Optional[bool] = ...) -> NDArray[Any]: ...
    def __getitem__(self, key: Any) -> Any: ...
    def dense(self) -> NDArray[np.float32]: ...
    def to_scipy(self) -> Any: ...
    def top(self, count: int = ...) -> Tuple[NDArray[np.uint16], NDArray[np.float32]]: ...
    def joint(self, joint: Union[int, str]) -> NDArray[np.float32]: ...
    def unweighted(self) -> NDArray[np.int64]: ...
    def limit(self, max_influences: Union[int, str] = ..., prune: Optional[float] = ..., limit_rule: Optional[str] = ...) -> Weights: ...
    def keep(self, kept: Weights, vertices: Optional[ArrayLike] = ..., joints: _Joints = ..., max_influences: int = ...) -> Weights: ...
    def pin(self, model: Model, pins: Union[Mapping[int, Mapping[str, float]], Sequence[Mapping[str, Any]]], reach: Optional[float] = ..., symmetric: bool = ...) -> Weights: ...
    def difference(self, other: Weights) -> NDArray[np.float32]: ...

class Binding:
    model: Model
    def weights(self, edits: Optional[_Edits] = ..., threads: int = ..., pose: Optional[_Pose] = ...,
        *,  # options of weights, by scripts/python-stubs
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        ) -> Weights: ...
    @property
    def coverage(self) -> NDArray[np.uint8]: ...
    def report(self) -> Dict[str, Any]: ...
    @overload
    def save(self, path: None = ...) -> bytes: ...
    @overload
    def save(self, path: _Path) -> None: ...
    def rebind(self, model: Model, on_progress: _Progress = ..., threads: int = ...) -> Binding: ...
    def move_joints(self, heads: ArrayLike, tails: Optional[ArrayLike] = ..., on_progress: _Progress = ..., threads: int = ...) -> Binding: ...

class Model:
    vertex_count: int
    triangle_count: int
    @property
    def vertices(self) -> NDArray[np.float32]: ...
    @property
    def triangles(self) -> NDArray[np.uint32]: ...
    @property
    def normals(self) -> Optional[NDArray[np.float32]]: ...
    def info(self,
        *,  # options of joints, by scripts/python-stubs
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> Dict[str, Any]: ...
    @property
    def joints(self) -> List[Joint]: ...
    @property
    def joint_names(self) -> Tuple[str, ...]: ...
    @property
    def weights(self) -> Optional[Weights]: ...
    def arrays(self) -> Dict[str, Any]: ...
    def joint_options(self, options: Union[str, Mapping[str, Any], None]) -> None: ...
    def select(self, vertices: Optional[ArrayLike] = ..., locked: _Joints = ...) -> None: ...
    def bind(self, method: Optional[_Method] = ..., on_progress: _Progress = ..., threads: int = ..., memory_limit: int = ..., keep_volume: bool = ...,
        *,  # options of bind, by scripts/python-stubs
        as_published: _Flag = ...,
        resolution: Union[int, Literal["auto"], None] = ...,
        local_resolution: _Flag = ...,
        penalty: Optional[float] = ...,
        overshoot: Optional[float] = ...,
        domain: Optional[Literal["sparse", "uniform", "sparse-boundary"]] = ...,
        neighbours: Optional[Literal["8", "4"]] = ...,
        one_pixel: _Flag = ...,
        winding_numbers: _Flag = ...,
        view_pairs: Optional[Literal["both", "either"]] = ...,
        voxelizer: Optional[Literal["cpu", "hardware"]] = ...,
        hard_range: Optional[Sequence[float]] = ...,
        rings: Optional[Literal["joint", "bone", "axes"]] = ...,
        ring_start: Optional[Literal["late", "zero"]] = ...,
        all_pairs: _Flag = ...,
        cooling: Optional[float] = ...,
        iterations: Optional[int] = ...,
        heat: Optional[Literal["cpu", "hardware"]] = ...,
        heat_transfer: Optional[float] = ...,
        learned: Optional[float] = ...,
        fit_check: _Flag = ...,
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> Binding: ...
    def bind_progressive(self, on_result: Callable[[Binding], object], method: Optional[_Method] = ..., on_progress: _Progress = ..., threads: int = ..., memory_limit: int = ..., keep_volume: bool = ...,
        *,  # options of bind, by scripts/python-stubs
        as_published: _Flag = ...,
        resolution: Union[int, Literal["auto"], None] = ...,
        local_resolution: _Flag = ...,
        penalty: Optional[float] = ...,
        overshoot: Optional[float] = ...,
        domain: Optional[Literal["sparse", "uniform", "sparse-boundary"]] = ...,
        neighbours: Optional[Literal["8", "4"]] = ...,
        one_pixel: _Flag = ...,
        winding_numbers: _Flag = ...,
        view_pairs: Optional[Literal["both", "either"]] = ...,
        voxelizer: Optional[Literal["cpu", "hardware"]] = ...,
        hard_range: Optional[Sequence[float]] = ...,
        rings: Optional[Literal["joint", "bone", "axes"]] = ...,
        ring_start: Optional[Literal["late", "zero"]] = ...,
        all_pairs: _Flag = ...,
        cooling: Optional[float] = ...,
        iterations: Optional[int] = ...,
        heat: Optional[Literal["cpu", "hardware"]] = ...,
        heat_transfer: Optional[float] = ...,
        learned: Optional[float] = ...,
        fit_check: _Flag = ...,
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> Binding: ...
    def load_binding(self, source: _File, on_progress: _Progress = ...) -> Binding: ...
    def load_weights(self, source: _File) -> Weights: ...
    def edit(self, weights: Weights, edits: _Edits) -> Weights: ...
    def clean(self, weights: Optional[Weights] = ..., strength: float = ..., max_influences: Union[int, str] = ..., on_progress: _Progress = ..., threads: int = ..., memory_limit: int = ...) -> Weights: ...
    def questions(self, weights: Optional[Weights] = ..., top: int = ..., threads: int = ...) -> List[Dict[str, Any]]: ...
    def distances(self, joint: Union[int, str], threads: int = ...,
        *,  # options of bind, by scripts/python-stubs
        as_published: _Flag = ...,
        resolution: Union[int, Literal["auto"], None] = ...,
        local_resolution: _Flag = ...,
        penalty: Optional[float] = ...,
        overshoot: Optional[float] = ...,
        domain: Optional[Literal["sparse", "uniform", "sparse-boundary"]] = ...,
        neighbours: Optional[Literal["8", "4"]] = ...,
        one_pixel: _Flag = ...,
        winding_numbers: _Flag = ...,
        view_pairs: Optional[Literal["both", "either"]] = ...,
        voxelizer: Optional[Literal["cpu", "hardware"]] = ...,
        hard_range: Optional[Sequence[float]] = ...,
        rings: Optional[Literal["joint", "bone", "axes"]] = ...,
        ring_start: Optional[Literal["late", "zero"]] = ...,
        all_pairs: _Flag = ...,
        cooling: Optional[float] = ...,
        iterations: Optional[int] = ...,
        heat: Optional[Literal["cpu", "hardware"]] = ...,
        heat_transfer: Optional[float] = ...,
        learned: Optional[float] = ...,
        fit_check: _Flag = ...,
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> NDArray[np.float32]: ...
    def volume(self, most: int = ..., threads: int = ...,
        *,  # options of bind, by scripts/python-stubs
        as_published: _Flag = ...,
        resolution: Union[int, Literal["auto"], None] = ...,
        local_resolution: _Flag = ...,
        penalty: Optional[float] = ...,
        overshoot: Optional[float] = ...,
        domain: Optional[Literal["sparse", "uniform", "sparse-boundary"]] = ...,
        neighbours: Optional[Literal["8", "4"]] = ...,
        one_pixel: _Flag = ...,
        winding_numbers: _Flag = ...,
        view_pairs: Optional[Literal["both", "either"]] = ...,
        voxelizer: Optional[Literal["cpu", "hardware"]] = ...,
        hard_range: Optional[Sequence[float]] = ...,
        rings: Optional[Literal["joint", "bone", "axes"]] = ...,
        ring_start: Optional[Literal["late", "zero"]] = ...,
        all_pairs: _Flag = ...,
        cooling: Optional[float] = ...,
        iterations: Optional[int] = ...,
        heat: Optional[Literal["cpu", "hardware"]] = ...,
        heat_transfer: Optional[float] = ...,
        learned: Optional[float] = ...,
        fit_check: _Flag = ...,
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> NDArray[np.float32]: ...
    def defects(self, threads: int = ...) -> Defects: ...
    def check(self, weights: Optional[Weights] = ..., profile: Optional[str] = ..., thresholds: Optional[Mapping[str, Optional[float]]] = ..., only: Union[str, Sequence[str]] = ..., skip: Union[str, Sequence[str]] = ..., bleed_resolution: int = ..., strict: bool = ..., on_progress: _Progress = ..., threads: int = ...) -> Dict[str, Any]: ...
    @overload
    def render(self, path: None, weights: Optional[Weights] = ..., view: str = ..., joints: Union[str, int, Sequence[Union[str, int]]] = ..., views: Union[str, Sequence[Union[str, Tuple[float, float]]]] = ..., zoom: Union[str, int, None] = ..., pose: Optional[_Pose] = ..., pose_name: str = ..., skinning: str = ..., sheet: bool = ..., overlay: bool = ..., resolution: int = ..., cut: Optional[ArrayLike] = ..., size: Tuple[int, int] = ..., title: str = ..., columns: int = ..., legend: bool = ..., dark: bool = ..., threads: int = ...) -> bytes: ...
    @overload
    def render(self, path: _Path, weights: Optional[Weights] = ..., view: str = ..., joints: Union[str, int, Sequence[Union[str, int]]] = ..., views: Union[str, Sequence[Union[str, Tuple[float, float]]]] = ..., zoom: Union[str, int, None] = ..., pose: Optional[_Pose] = ..., pose_name: str = ..., skinning: str = ..., sheet: bool = ..., overlay: bool = ..., resolution: int = ..., cut: Optional[ArrayLike] = ..., size: Tuple[int, int] = ..., title: str = ..., columns: int = ..., legend: bool = ..., dark: bool = ..., threads: int = ...) -> None: ...
    @overload
    def save(self, path: None, weights: Weights, weight_format: str = ..., animations: Sequence[Tuple[str, ArrayLike, ArrayLike]] = ..., repair_matrices: bool = ..., fbx_unit: str = ...) -> bytes: ...
    @overload
    def save(self, path: _Path, weights: Weights, weight_format: str = ..., animations: Sequence[Tuple[str, ArrayLike, ArrayLike]] = ..., repair_matrices: bool = ..., fbx_unit: str = ...) -> List[str]: ...
    @overload
    def save_weights(self, path: None, weights: Weights) -> bytes: ...
    @overload
    def save_weights(self, path: _Path, weights: Weights) -> None: ...
    def pose_matrices(self, pose: _Pose) -> NDArray[np.float64]: ...
    def clip_matrices(self, clip: int, time: float) -> NDArray[np.float64]: ...
    def rest_matrices(self) -> Tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def standard_poses(self) -> Dict[str, NDArray[np.float64]]: ...
    def random_pose(self, degrees: float = ..., seed: int = ...) -> NDArray[np.float64]: ...
    def deform(self, weights: Weights, matrices: ArrayLike, skinning: str = ...) -> NDArray[np.float32]: ...

def settings() -> List[Dict[str, Any]]: ...
def version() -> str: ...
def rig_templates() -> Dict[str, str]: ...
def rig(mesh: Union[_Path, Model], template: str = ..., resolution: int = ..., on_progress: _Progress = ..., threads: int = ...) -> Rig: ...
def load(source: _File, skeleton: Union[_File, Rig, Model, None] = ..., joint_options: Optional[_File] = ..., *,
         skeleton_scale: float = ..., prop: bool = ..., bind_parts: bool = ..., together: bool = ..., with_clips: bool = ..., only_missing: bool = ..., follow_links: bool = ..., name: str = ...) -> Model: ...
def model(vertices: Union[ArrayLike, Sequence[ArrayLike]], faces: Union[ArrayLike, Sequence[Any]], heads: Optional[ArrayLike] = ..., tails: Optional[ArrayLike] = ..., parents: Optional[ArrayLike] = ..., names: Optional[Sequence[str]] = ..., rest: Optional[ArrayLike] = ..., deform: Optional[ArrayLike] = ..., weights: Optional[_Weights] = ..., transform: Union[ArrayLike, Sequence[ArrayLike], None] = ..., up: Optional[ArrayLike] = ..., name: str = ..., select: Optional[ArrayLike] = ..., locked: _Joints = ..., mesh_names: Optional[Sequence[str]] = ...) -> Model: ...
def bind(vertices: Union[ArrayLike, Sequence[ArrayLike]], faces: Union[ArrayLike, Sequence[Any]], heads: Optional[ArrayLike] = ..., tails: Optional[ArrayLike] = ..., parents: Optional[ArrayLike] = ..., names: Optional[Sequence[str]] = ..., rest: Optional[ArrayLike] = ..., deform: Optional[ArrayLike] = ..., weights: Optional[_Weights] = ..., transform: Union[ArrayLike, Sequence[ArrayLike], None] = ..., select: Optional[ArrayLike] = ..., locked: _Joints = ..., method: Optional[_Method] = ..., on_progress: _Progress = ..., threads: int = ..., memory_limit: int = ...,
        *,  # options of bind, by scripts/python-stubs
        as_published: _Flag = ...,
        resolution: Union[int, Literal["auto"], None] = ...,
        local_resolution: _Flag = ...,
        penalty: Optional[float] = ...,
        overshoot: Optional[float] = ...,
        domain: Optional[Literal["sparse", "uniform", "sparse-boundary"]] = ...,
        neighbours: Optional[Literal["8", "4"]] = ...,
        one_pixel: _Flag = ...,
        winding_numbers: _Flag = ...,
        view_pairs: Optional[Literal["both", "either"]] = ...,
        voxelizer: Optional[Literal["cpu", "hardware"]] = ...,
        hard_range: Optional[Sequence[float]] = ...,
        rings: Optional[Literal["joint", "bone", "axes"]] = ...,
        ring_start: Optional[Literal["late", "zero"]] = ...,
        all_pairs: _Flag = ...,
        cooling: Optional[float] = ...,
        iterations: Optional[int] = ...,
        heat: Optional[Literal["cpu", "hardware"]] = ...,
        heat_transfer: Optional[float] = ...,
        learned: Optional[float] = ...,
        fit_check: _Flag = ...,
        falloff: Optional[float] = ...,
        lambda_min: Optional[float] = ...,
        lambda_max: Optional[float] = ...,
        falloff_law: Optional[Literal["inverse-power", "inverse-quadratic", "exponential", "cubic-hermite", "linear", "power"]] = ...,
        smoothness: Optional[float] = ...,
        threshold: Optional[float] = ...,
        power: Optional[float] = ...,
        max_influences: Union[int, Literal["all"], None] = ...,
        limit_rule: Optional[Literal["fade", "cut"]] = ...,
        deform_from: Optional[Literal["auto", "skin", "names", "all"]] = ...,
        exclude: Union[str, Sequence[str], None] = ...,
        include: Union[str, Sequence[str], None] = ...,
        strict: _Flag = ...,
        ) -> Weights: ...
def transfer(source: Model, target: Model, weights: Optional[Weights] = ..., distance: float = ..., angle: float = ..., max_influences: Union[int, str] = ..., limit_rule: str = ..., on_progress: _Progress = ..., threads: int = ..., memory_limit: int = ...) -> Weights: ...
def compare(model: Model, reference: Weights, other: Weights, gates: Optional[Mapping[str, float]] = ..., on_progress: _Progress = ..., threads: int = ...) -> Dict[str, Any]: ...
def cutout(pictures: Union[ArrayLike, Mapping[str, ArrayLike]], bones: Union[str, bytes, Mapping[str, Any]], png: Union[bytes, Mapping[str, bytes], None] = ..., name: str = ..., smoothness: float = ..., threads: int = ...) -> bytes: ...
def pose(model: Model, weights: Weights, pose: _Pose, skinning: str = ...) -> NDArray[np.float32]: ...
